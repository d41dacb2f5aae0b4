
K
xPlaceholder*
_user_specified_namex*
dtype0*
shape:	
+
UniqueUniquex*
T0*
out_idx0
%
IdentityIdentityUnique*
T0"ª