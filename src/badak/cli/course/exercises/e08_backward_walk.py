"""The walk back through a graph: the heart of an autograd engine."""

from badak.cli.course.exercise import Both, Case, Exercise, Mistake


class Node:
    """A number in a graph. It counts how often its edges are asked for."""

    def __init__(self, *edges):
        self.made_of, self.grad, self.reads = list(edges), 0.0, 0

    @property
    def edges(self):
        self.reads += 1
        return self.made_of


def graph(count, edges):
    """`count` nodes; edges: (node, parent, slope), a parent before its nodes."""
    nodes = [Node() for _ in range(count)]
    for node, parent, slope in edges:
        nodes[node].made_of.append((nodes[parent], slope))
    return nodes


def call(program, count, edges):
    """The gradient of each node behind a walk from the last one, and whether no edge was followed too often."""
    nodes = graph(count, edges)
    program.backward(nodes[-1])
    return [float(node.grad) for node in nodes], all(node.reads <= 6 for node in nodes)


def cases() -> list[Case]:
    ladder = [row for i in range(18) for row in [(2 * i + 1, 2 * i, 0.5), (2 * i + 2, 2 * i, 0.5), (2 * i + 2, 2 * i + 1, 1.0)]]
    rows = [
        (Both("a chain of two", "두 마디의 사슬"), 3, [(1, 0, 2.0), (2, 1, 3.0)]),
        (Both("x * x: one parent twice", "x * x: 같은 부모 두 번"), 2, [(1, 0, 3.0), (1, 0, 3.0)]),
        (Both("a diamond", "마름모"), 4, [(1, 0, 2.0), (2, 0, 5.0), (3, 1, 1.0), (3, 2, 1.0)]),
        (Both("a short way and a long way", "짧은 길과 긴 길"), 4, [(1, 0, 2.0), (2, 1, 3.0), (3, 0, 7.0), (3, 2, 1.0)]),
        (
            Both("a long way before a short one", "긴 길이 짧은 길보다 먼저"),
            5,
            [(1, 0, 2.0), (2, 1, 3.0), (3, 2, 1.0), (4, 3, 2.0), (4, 1, 5.0)],
        ),
        (Both("a node that the root does not use", "루트가 쓰지 않는 노드"), 4, [(1, 0, 2.0), (2, 0, 9.0), (3, 1, 4.0)]),
        (Both("a ladder of 18 rungs", "18칸 사다리"), 37, ladder),
        (Both("a chain of 5,000", "5,000개의 사슬"), 5001, [(i + 1, i, 1.0) for i in range(5000)]),
    ]
    return [Case(label, (count, edges), call) for label, count, edges in rows]


EXERCISE = Exercise(
    function="backward",
    title=Both("The walk back: an autograd engine", "거꾸로 걷기: autograd 엔진"),
    text=Both(
        """
node.edges is a list of pairs (parent, slope): slope is d node / d parent.
node.grad is 0.0 at first, for each node.

backward(root) sets root.grad = 1.0 and adds to the grad of every node below it the sum,
over all nodes that use it, of slope * grad of that node. A node may pass its gradient on
only when it is complete: when all nodes that use it have sent theirs.

The graph may be a chain of 5,000 nodes (Python's recursion ends at 1,000), and a node may
be reached by a million paths: visit each node once.
""",
        """
node.edges는 (parent, slope) 쌍의 리스트이고, slope는 d node / d parent입니다.
모든 노드의 node.grad는 처음에 0.0입니다.

backward(root)는 root.grad = 1.0으로 두고, 아래의 모든 노드의 grad에 그 노드를 쓰는 모든
노드의 slope * grad를 더합니다. 노드는 기울기가 완성된 뒤에만, 곧 그 노드를 쓰는 모든 노드가
보낸 뒤에만 기울기를 넘길 수 있습니다.

그래프는 노드 5,000개의 사슬일 수 있고(파이썬의 재귀는 1,000에서 끝납니다) 한 노드에 이르는
경로는 백만 개일 수 있습니다. 각 노드를 한 번만 방문하세요.
""",
    ),
    solution='''\
def backward(root):
    order, seen, stack = [], set(), [(root, False)]
    while stack:
        node, done = stack.pop()
        if done:
            order.append(node)
        elif id(node) not in seen:
            seen.add(id(node))
            stack.append((node, True))
            for parent, slope in node.edges:
                stack.append((parent, False))
    root.grad = 1.0
    for node in reversed(order):
        for parent, slope in node.edges:
            parent.grad += slope * node.grad
''',
    derivation=Both(
        "dL/dp = sum over the nodes n that use p of dL/dn dn/dp, the chain rule. In an order in which each node comes behind its parents,\n"
        "the reverse has each node before its parents: when a node's turn comes, all that use it have added theirs. A depth-first walk\n"
        "that lists a node after its parents gives such an order in one visit of each node and edge.",
        "dL/dp는 p를 쓰는 노드 n에 대한 dL/dn dn/dp의 합입니다(연쇄 법칙). 각 노드가 부모 뒤에 오는 순서를 뒤집으면 각 노드가 부모보다\n"
        "먼저 오므로, 차례가 되었을 때 그 노드를 쓰는 모든 노드가 이미 더했습니다. 부모 다음에 노드를 적는 깊이 우선 탐색은 노드와\n"
        "간선을 한 번씩만 방문해 그런 순서를 줍니다.",
    ),
    hints=(
        Both("First an order of the nodes in which parents come first; then go through it backwards.", "먼저 부모가 앞에 오는 노드의 순서를 만들고, 그 다음 거꾸로 가세요."),
        Both("A depth-first search that appends a node after all its parents gives the order.", "모든 부모 다음에 노드를 덧붙이는 깊이 우선 탐색이 그 순서를 줍니다."),
        Both("Without recursion: push (node, True) before its parents; when it comes off the stack, append it.",
             "재귀 없이: 부모보다 먼저 (node, True)를 쌓고, 그것이 스택에서 나올 때 덧붙이세요."),
    ),
    cases=cases,
    mistakes=(
        Mistake("the gradient is overwritten where it must be added", "더해야 할 기울기를 덮어썼습니다", ("parent.grad += ", "parent.grad = ")),
        Mistake("the nodes are taken in the order of a search from the root, before their gradient is complete", "기울기가 완성되기 전에, 루트에서 찾은 순서대로 노드를 처리했습니다",
                ("            seen.add(id(node))\n", "            seen.add(id(node))\n            order.insert(0, node)\n"), ("order.append(node)", "pass")),
        Mistake("the order is not reversed: parents come first, and the gradient stops at the parents of the root", "순서를 뒤집지 않아 부모가 먼저 오고, 기울기가 루트의 부모에서 멈춥니다", ("reversed(order)", "order")),
        Mistake("root.grad is not set to 1", "root.grad를 1로 두지 않았습니다", ("    root.grad = 1.0\n", "")),
        Mistake("the slope is not used", "slope를 쓰지 않았습니다", ("slope * node.grad", "node.grad")),
        Mistake("the gradient of the node is not used: only the slope is added", "노드의 기울기를 쓰지 않고 slope만 더했습니다", ("slope * node.grad", "slope")),
        Mistake("the slope is added to the gradient, not multiplied", "slope를 곱하지 않고 더했습니다", ("slope * node.grad", "slope + node.grad")),
        Mistake("a breadth-first order is used, in which a long way comes too late", "너비 우선 순서를 써서 긴 경로가 늦게 도착합니다",
                ("stack.pop()", "stack.pop(0)"), ("            seen.add(id(node))\n", "            seen.add(id(node))\n            order.insert(0, node)\n"), ("order.append(node)", "pass")),
        Mistake("a parent that is used twice by one node gets its gradient once", "한 노드가 두 번 쓰는 부모가 기울기를 한 번만 받습니다",
                ("in node.edges:\n            parent.grad", "in {id(p): (p, s) for p, s in node.edges}.values():\n            parent.grad")),
        Mistake("the recursion is too deep for a long chain", "긴 사슬에서 재귀가 너무 깊어집니다",
                ("    order, seen, stack = [], set(), [(root, False)]\n", "    order, seen, stack = [], set(), []\n\n    def visit(node):\n        if id(node) not in seen:\n            seen.add(id(node))\n            for parent, slope in node.edges:\n                visit(parent)\n            order.append(node)\n\n    visit(root)\n")),
        Mistake("nodes are visited again for each path that leads to them", "노드에 이르는 경로마다 노드를 다시 방문합니다",
                ("        elif id(node) not in seen:\n", "        elif len(order) < 300000 and id(node) not in seen:\n"), ("            seen.add(id(node))\n", "            len(seen)\n"),
                ("    root.grad = 1.0\n", "    order = list({id(n): n for n in order}.values())\n    root.grad = 1.0\n")),
        Mistake("a node sends what it has each time that it is reached, and sends the first part again", "노드에 닿을 때마다 가진 기울기를 모두 보내 앞서 보낸 것을 또 보냅니다",
                ("    order, seen, stack = [], set(), [(root, False)]\n", "    order, stack, root.grad = [], [root], 1.0\n    for _ in range(20000):\n        if not stack:\n            return\n        node = stack.pop()\n        for parent, slope in node.edges:\n            parent.grad += slope * node.grad\n            stack.append(parent)\n    stack = []\n"),
                ("    root.grad = 1.0\n", "")),
    ),
)  # fmt: skip
