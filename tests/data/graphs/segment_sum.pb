
O
xPlaceholder*
_user_specified_namex*
dtype0*
shape
:
Y
segmentsPlaceholder*"
_user_specified_name
segments*
dtype0*
shape:
>

SegmentSum
SegmentSumxsegments*
Tindices0*
T0
)
IdentityIdentity
SegmentSum*
T0"ª