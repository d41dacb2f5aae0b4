
O
xPlaceholder*
_user_specified_namex*
dtype0*
shape
:

SinSinx*
T0
"
IdentityIdentitySin*
T0"ª