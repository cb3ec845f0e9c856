"""Runs calls in threads, and knows without waiting for time to pass which of them are blocked."""

import threading
import types


class Stage:
    """A set of threads whose condition variables are watched.

    Use `stage.threading` in place of the module `threading` where the code under test makes
    its conditions. A call is blocked when its thread sleeps and nobody has woken it.
    """

    def __init__(self):
        self._changed = threading.Condition()
        self._asleep = set()
        stage = self

        class Watched(threading.Condition):
            def __init__(self, lock=None):
                super().__init__(lock)
                self._sleepers = set()

            def wait(self, timeout=None):
                thread = threading.current_thread()
                self._sleepers.add(thread)
                stage._mark(asleep={thread})
                try:
                    return super().wait(timeout)
                finally:
                    self._sleepers.discard(thread)
                    stage._mark(awake={thread})

            def notify(self, n=1):
                stage._mark(awake=set(self._sleepers))
                super().notify(n)

            # notify_all calls notify

        self.threading = types.SimpleNamespace(**vars(threading) | {"Condition": Watched})

    def _mark(self, asleep=frozenset(), awake=frozenset()):
        with self._changed:
            self._asleep |= asleep
            self._asleep -= awake
            self._changed.notify_all()

    def run(self, function):
        """Start a call; give it when it has ended or is blocked."""
        call = Call(function, self)
        call.thread.start()
        self.settle(call)
        return call

    def settle(self, *calls):
        """Wait until each call has ended or is blocked."""
        with self._changed:
            settled = self._changed.wait_for(
                lambda: all(call.ended or call.thread in self._asleep for call in calls), 60
            )
        assert settled

    def wait_until_asleep(self, thread):
        """Wait until a thread that was not started here is blocked."""
        with self._changed:
            assert self._changed.wait_for(lambda: thread in self._asleep, 60)


class Call:
    """A call in a thread of its own; `result` or `error` when it has `ended`."""

    def __init__(self, function, stage):
        self.result = self.error = None
        self.ended = False

        def target():
            try:
                self.result = function()
            except Exception as error:
                self.error = error
            with stage._changed:
                self.ended = True
                stage._changed.notify_all()

        self.thread = threading.Thread(target=target, daemon=True)
