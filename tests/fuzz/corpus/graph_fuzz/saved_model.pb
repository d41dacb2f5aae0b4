±
"serve*2.21.0`

xPlaceholder
+
cStatefulPartitionedCallx*

fR
f



f
a
tTileaa*5
serving_default"

x
x:0
y
c:0:
f