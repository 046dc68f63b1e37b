"""The ranks of one machine, started from here. What MPI needs at its start goes over a pair of sockets that each rank inherits: no
door is opened that others could knock at, as MPI's own starter does.

The words are those of MPICH's PMI, version 1, which Intel MPI and MVAPICH speak, too.
"""

import secrets
import selectors
import socket
import subprocess
import threading
import time
from contextlib import suppress

from badak.distributed.launch.exit_status import Failure

PATIENCE = 5.0  # seconds that guards have to end after they were told
OTHERS = ("PMI_", "PMI2_", "PMIX_", "HYDI_", "HYDRA_", "OMPI_COMM_WORLD_")  # what a starter around this one has said
WIDTHS = "kvsname_max=256 keylen_max=64 vallen_max=1024"


class Local:
    """Guards that were started here; like a Popen of MPI's own starter."""

    def __init__(self, command: list[str], size: int, env: dict[str, str], inherited: tuple[int, ...] = ()) -> None:
        self.returncode: int | None = None
        self.guards: list[subprocess.Popen] = []
        env = {name: value for name, value in env.items() if not name.startswith(OTHERS)}
        env |= {"PMI_SIZE": str(size), "MPI_LOCALNRANKS": str(size), "MPIR_CVAR_PMI_VERSION": "1"}
        ours: list[socket.socket] = []
        try:
            for rank in range(size):
                mine, theirs = socket.socketpair()
                ours.append(mine)
                with theirs:
                    here = {"PMI_RANK": str(rank), "PMI_FD": str(theirs.fileno()), "MPI_LOCALRANKID": str(rank)}
                    files = (theirs.fileno(), *inherited)
                    here["BADAK_LAUNCH_FILES"] = ",".join(map(str, files))  # for the guard, which keeps none of them
                    self.guards.append(
                        subprocess.Popen(
                            command,
                            env={**env, **here},
                            pass_fds=files,
                            start_new_session=True,
                            stdin=subprocess.DEVNULL,
                        )  # fmt: skip
                    )
        except OSError as error:
            for guard in self.guards:
                guard.kill()
            raise Failure(f"rank {len(self.guards)} cannot be started ({error.strerror})", "fewer ranks") from error
        threading.Thread(target=Meeting(ours).run, daemon=True).start()

    def poll(self) -> int | None:
        """None while a guard is there; then 0, or the code of one that ended otherwise."""
        codes = [guard.poll() for guard in self.guards]
        if None not in codes:
            self.returncode = next((code for code in codes if code), 0)
        return self.returncode

    def kill(self) -> None:
        """Nothing: guards end when they are told, and their ranks with them."""

    def wait(self) -> None:
        """Until all have ended; those that were not told yet are killed."""
        until = time.monotonic() + PATIENCE
        while self.poll() is None and time.monotonic() < until:
            time.sleep(0.02)
        for guard in self.guards:
            guard.kill()
            guard.wait()
        self.poll()


class Meeting:
    """What the ranks' MPI asks at its start: who is there, and what the others have laid down for all."""

    def __init__(self, lines: list[socket.socket]) -> None:
        self.lines = lines
        self.heard = [b""] * len(lines)
        self.values = {"PMI_process_mapping": f"(vector,(0,1,{len(lines)}))"}  # all on one machine
        self.waiting: set[int] = set()
        self.begun: set[int] = set()  # the ranks whose MPI has asked; not every MPI lets them meet at its start
        self.gone: set[int] = set()
        self.name = f"badak-{secrets.token_hex(8)}"  # MPI names memory that all ranks share by it

    def run(self) -> None:
        """Answer until all have gone."""
        with selectors.DefaultSelector() as door:
            for rank, line in enumerate(self.lines):
                door.register(line, selectors.EVENT_READ, rank)
            while door.get_map():
                for key, _ in door.select():
                    if not self._hear(key.data):
                        door.unregister(key.fileobj)
                        self.lines[key.data].close()
                        self.gone |= {key.data} & self.begun  # for one that never asked the others wait at their start
                        self._send(self.all_came())

    def _hear(self, rank: int) -> bool:
        """Answer what has come from a rank; False when it has gone."""
        try:
            came = self.lines[rank].recv(65536)
            *lines, self.heard[rank] = (self.heard[rank] + came).split(b"\n")
            for line in lines:
                self._send(self.replies(rank, line.decode()))
        except OSError:
            return False
        return bool(came)

    def _send(self, replies: list[tuple[int, str]]) -> None:
        for rank, reply in replies:
            with suppress(OSError):  # it has gone
                self.lines[rank].sendall(f"cmd={reply}\n".encode())

    def all_came(self) -> list[tuple[int, str]]:
        """What is said to those who wait for all, when all that are left have come: MPI's end waits so, too."""
        if not self.waiting or len(self.waiting | self.gone) < len(self.lines):
            return []
        came, self.waiting = self.waiting - self.gone, set()
        return [(rank, "barrier_out rc=0") for rank in sorted(came)]

    def replies(self, rank: int, line: str) -> list[tuple[int, str]]:
        """What is said to whom after this line."""
        said = dict(word.partition("=")[::2] for word in line.split())
        match said.get("cmd"):
            case "init":
                self.begun.add(rank)
                return [(rank, "response_to_init pmi_version=1 pmi_subversion=1 rc=0")]
            case "get_maxes":
                return [(rank, f"maxes rc=0 {WIDTHS}")]
            case "get_my_kvsname":
                return [(rank, f"my_kvsname rc=0 kvsname={self.name}")]
            case "get_appnum":
                return [(rank, "appnum rc=0 appnum=0")]
            case "get_universe_size":
                return [(rank, f"universe_size rc=0 size={len(self.lines)}")]
            case "put":
                self.values[said["key"]] = said["value"]
                return [(rank, "put_result rc=0 msg=success")]
            case "get" if said["key"] in self.values:
                return [(rank, f"get_result rc=0 msg=success value={self.values[said['key']]}")]
            case "get":
                return [(rank, "get_result rc=-1 msg=key_not_found value=unknown")]
            case "barrier_in":
                self.waiting.add(rank)
                return self.all_came()
            case "finalize":
                return [(rank, "finalize_ack rc=0")]
            case "publish_name" | "unpublish_name" | "lookup_name" as what:
                return [(rank, f"{what.partition('_')[0]}_result rc=-1 msg=nobody_else_is_here")]
        return [(rank, "spawn_result rc=-1 msg=more_ranks_are_not_started")] if line == "endcmd" else []
