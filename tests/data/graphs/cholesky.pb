
O
xPlaceholder*
_user_specified_namex*
dtype0*
shape
:
 
CholeskyCholeskyx*
T0
'
IdentityIdentityCholesky*
T0"ª