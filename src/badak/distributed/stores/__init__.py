"""Stores: keys and values that processes share, by which they find each other and agree.

contents.py    what a store holds, and the commands that change it
store.py       what programs call: Store; HashStore within one process, PrefixStore within another store
file_store.py  processes that see one file
tcp_store.py   processes that reach one socket
"""
