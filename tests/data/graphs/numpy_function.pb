
O
xPlaceholder*
_user_specified_namex*
dtype0*
shape
:
f
PyFuncPyFuncx"/job:localhost/replica:0/task:0*
Tin
2*
Tout
2*
token
pyfunc_1
,
IdentityIdentityPyFunc^NoOp*
T0

NoOpNoOp^PyFunc"ª