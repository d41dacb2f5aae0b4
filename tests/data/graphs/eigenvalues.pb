
O
xPlaceholder*
_user_specified_namex*
dtype0*
shape
:
3
EigEigx*

Tout0*
T0*
	compute_v(
"
IdentityIdentityEig*
T0"ª