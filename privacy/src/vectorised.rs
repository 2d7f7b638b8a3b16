//! Plain loops, compiled for the widest registers that the processor has.

/// Runs a loop compiled for the processor at hand. The closure must be `#[inline(always)]`.
///
/// Not [`pulp`]'s own way of calling closures: it takes `FnOnce`, and a closure that borrows is `FnMut`, which the
/// compiler wraps in a function of its own, compiled for the plainest processor.
///
/// ```
/// let mut values = [1.0f32, 2.0, 3.0];
/// privacy::vectorised(
///     #[inline(always)]
///     || values.iter_mut().for_each(|x| *x *= 2.0),
/// );
/// assert_eq!(values, [2.0, 4.0, 6.0]);
/// ```
pub fn vectorised<R>(kernel: impl FnMut() -> R) -> R {
    struct Borrowing<F>(F);

    impl<R, F: FnMut() -> R> pulp::NullaryFnOnce for Borrowing<F> {
        type Output = R;

        #[inline(always)]
        fn call(mut self) -> R {
            (self.0)()
        }
    }

    pulp::Arch::new().dispatch(Borrowing(kernel))
}
