"""llama.cpp's own server, started by `bench.with_llama_cpp --streams`: `python llama_server.py FILE.gguf STREAMS CONTEXT THREADS`.

Needs xllamacpp, which holds that server, and nothing else: it may be the Python of another environment. Prints its port; ends when
stdin does.
"""

import sys

import xllamacpp


def main() -> None:
    """Serve one file to so many texts at once, each of `context` tokens at most."""
    streams, context, threads = map(int, sys.argv[2:])
    wanted = xllamacpp.CommonParams()
    wanted.model.path = sys.argv[1]
    wanted.hostnames, wanted.port = ["127.0.0.1"], 0
    wanted.n_parallel, wanted.n_ctx, wanted.n_ctx_checkpoints = streams, streams * context, 0
    wanted.cpuparams.n_threads = wanted.cpuparams_batch.n_threads = threads
    wanted.cache_prompt, wanted.cache_ram_mib = False, 0  # no answer profits from one before
    wanted.sampling.ignore_eos = True
    wanted.verbosity = 0
    server = xllamacpp.Server(wanted)
    print(server.listening_address, xllamacpp.__version__, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
