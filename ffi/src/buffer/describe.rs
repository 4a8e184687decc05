//! Methods common to all buffer types, and those common to the writable ones.

/// Rank, length and size in bytes of a type with a field `buffer`: `describe!(['f] AnyArray<'f>)`.
macro_rules! describe {
    ([$($generics:tt)*] $ty:ty) => {
        impl<$($generics)*> $ty {
            /// The rank.
            #[inline(always)]
            pub fn rank(&self) -> usize {
                self.buffer.dims().len()
            }

            /// The number of elements.
            #[inline(always)]
            pub fn len(&self) -> usize {
                self.buffer.len()
            }

            /// Whether there are no elements.
            #[inline(always)]
            pub fn is_empty(&self) -> bool {
                self.buffer.is_empty()
            }

            /// The number of bytes, packed types rounded up to whole bytes.
            #[inline(always)]
            pub fn size_in_bytes(&self) -> usize {
                self.buffer.size_in_bytes()
            }
        }
    };
}

/// As [`describe`], and dtype and shape, of a type with an element type `T` and a rank `D`.
macro_rules! describe_typed {
    ($ty:ident) => {
        describe!(['f, T: Element, D: Ranked] $ty<'f, T, D>);

        impl<'f, T: Element, D: Ranked> $ty<'f, T, D> {
            /// The dtype.
            pub fn dtype(&self) -> DType {
                T::DTYPE
            }

            /// The sizes, major to minor: a slice, or for static ranks an array.
            #[inline(always)]
            pub fn shape(&self) -> D::Shape<'f> {
                D::shape(self.buffer.shape())
            }
        }

        impl<T: Element, D: Ranked> fmt::Debug for $ty<'_, T, D> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}{:?}", T::DTYPE, self.buffer.shape())
            }
        }
    };
}

/// Writing one element, and slices and views of elements that meet `$bound`, whose memory then always holds values.
macro_rules! writable {
    ($ty:ident where T: $bound:ident, $doc:literal) => {
        // SAFETY: an exclusive borrow of its elements.
        unsafe impl<T: Element, D: Ranked> Send for $ty<'_, T, D> {}
        // SAFETY: shared, it only reads.
        unsafe impl<T: Element, D: Ranked> Sync for $ty<'_, T, D> {}

        impl<'f, T: Element, D: Ranked> $ty<'f, T, D> {
            /// Writes the element at a flat index, the last index fastest.
            ///
            /// # Panics
            /// Past the end.
            #[inline(always)]
            #[track_caller]
            pub fn set(&mut self, index: usize, value: T) {
                assert!(index < self.len(), "index {index} is past the end of a buffer of {} elements", self.len());
                // SAFETY: in range, and exclusive.
                unsafe { T::store(self.buffer.data(), index, value) }
            }
        }

        impl<'f, T: $bound, D: Ranked> $ty<'f, T, D> {
            #[doc = $doc]
            #[inline(always)]
            pub fn as_slice(&self) -> &[T] {
                if self.buffer.is_empty() {
                    return &[];
                }
                // SAFETY: aligned and exclusive, with the layout of [T]; the bytes are values, as the bound says.
                unsafe { std::slice::from_raw_parts(self.buffer.data().cast(), self.buffer.len()) }
            }

            #[doc = $doc]
            #[inline(always)]
            pub fn as_mut_slice(&mut self) -> &mut [T] {
                if self.buffer.is_empty() {
                    return &mut [];
                }
                // SAFETY: as in `as_slice`.
                unsafe { std::slice::from_raw_parts_mut(self.buffer.data().cast(), self.buffer.len()) }
            }

            /// The rows: slices along the last axis.
            pub fn rows_mut(&mut self) -> RowsMut<'_, T> {
                let shape = self.buffer.shape();
                RowsMut::new(self.as_mut_slice(), shape)
            }

            /// An ndarray view.
            pub fn view_mut(&mut self) -> ArrayViewMut<'_, T, D::Nd> {
                let shape = D::nd(self.buffer.shape());
                ArrayViewMut::from_shape(shape, self.as_mut_slice())
                    .expect("a dense buffer holds as many elements as its shape says")
            }
        }

        impl<T: $bound, D: Ranked> Deref for $ty<'_, T, D> {
            type Target = [T];

            #[inline(always)]
            fn deref(&self) -> &[T] {
                self.as_slice()
            }
        }

        impl<T: $bound, D: Ranked> DerefMut for $ty<'_, T, D> {
            #[inline(always)]
            fn deref_mut(&mut self) -> &mut [T] {
                self.as_mut_slice()
            }
        }
    };
}
