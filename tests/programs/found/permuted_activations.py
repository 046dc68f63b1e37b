# Reference and Numba kernels gave the results of permuted tensors other strides.
c = draw(6, 1)


def function(x):
    y = x.permute(1, 0)
    return F.relu(y), F.gelu(y), y.tanh(), y.sigmoid(), F.silu(y), y.exp(), F.relu(y) * c, F.dropout(y, 0.3), y.softmax(0)


function = compile(function)
for number in range(6):
    watch(function, draw(3, 6))
