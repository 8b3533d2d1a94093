/* kc_signature.h - what a kernel's parameters are, for the comparison with what was declared. Stands before CUDA C++ of either
 * dialect. Enumerators rather than constants: those would be symbols of the code. */
namespace kc_signature {
template <class T> struct bare { typedef T type; };
template <class T> struct bare<const T> { typedef typename bare<T>::type type; };
template <class T> struct bare<volatile T> { typedef typename bare<T>::type type; };
template <class T> struct bare<const volatile T> { typedef typename bare<T>::type type; };

template <class T> struct is_float { enum { yes = 0 }; };
template <> struct is_float<float> { enum { yes = 1 }; };
template <> struct is_float<double> { enum { yes = 1 }; };

template <class T> struct value { typedef typename bare<T>::type type; enum { buffer = 0 }; };
template <class T> struct value<T *> { typedef typename bare<T>::type type; enum { buffer = 1 }; };
template <class T> struct value<T *const> : value<T *> {};
template <class T> struct value<T *__restrict__> : value<T *> {};

template <class F> struct count;
template <class R, class... P> struct count<R(P...)> { enum { parameters = sizeof...(P) }; };

template <int N, class F> struct at;
template <class R, class T, class... P> struct at<0, R(T, P...)> { typedef T type; };
template <int N, class R, class T, class... P> struct at<N, R(T, P...)> : at<N - 1, R(P...)> {};

/* The number that parameter N of F is or points to: its size and kind, or (Any: an author's own types) its size alone. */
template <class F, int N, int Buffer, int Size, int Float, int Any> struct fits {
  typedef typename at<N, F>::type parameter;
  typedef typename value<parameter>::type number;
  enum { yes = int(value<parameter>::buffer) == Buffer && sizeof(number) == Size && (Any || int(is_float<number>::yes) == Float) };
};
}
