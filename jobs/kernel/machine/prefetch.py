"""The processor's prefetch, for loops that read an array in an order that it cannot foresee.

A loop over links reads numbers from all over an array. Each read waits for memory, unless the
place was asked for some reads earlier. Source of the instruction: the LLVM language reference,
`llvm.prefetch`. It changes no number: the processor may ignore it.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

AHEAD = 96  # reads of a loop that a place is asked for ahead


class _Prefetch:
    """Asks for `array[index]`; does nothing where loops run as Python. index: unsigned, so that
    numba does not look whether it counts from the end."""

    def __call__(self, array: Any, index: Any) -> None:
        return None

    @cached_property
    def _numba_type_(self) -> Any:
        """The type by which numba compiles a loop that names this."""
        from numba.core.registry import cpu_target

        self._made = _intrinsic()  # numba knows it as long as it lives
        cpu_target.typing_context.refresh()
        return cpu_target.typing_context.resolve_value_type(self._made)


def _intrinsic() -> Any:
    from llvmlite import ir
    from numba.core import types
    from numba.extending import intrinsic

    byte, word = ir.IntType(8).as_pointer(), ir.IntType(32)
    kind = ir.FunctionType(ir.VoidType(), [byte, word, word, word])
    to_read, keep_near, of_data = word(0), word(3), word(1)

    def prefetched(typing_context: Any, array: Any, index: Any) -> Any:
        def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            of = context.make_array(array)(context, builder, values[0])
            address = builder.bitcast(builder.gep(of.data, [values[1]]), byte)
            ask = builder.module.declare_intrinsic("llvm.prefetch", [byte], kind)
            builder.call(ask, [address, to_read, keep_near, of_data])
            return context.get_dummy_value()

        return types.void(array, index), code

    return intrinsic(prefetched)


prefetch = _Prefetch()
