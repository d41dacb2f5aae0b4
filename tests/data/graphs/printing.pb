
O
xPlaceholder*
_user_specified_namex*
dtype0*
shape
:
h
StringFormatStringFormatx*

T
2*
placeholder{}*
	summarize*
template	x is {}
G
PrintV2PrintV2StringFormat*

end
*
output_streamstderr
'
IdentityIdentityx^NoOp*
T0

NoOpNoOp^PrintV2"ª