/** Types of the one Node class that the Workers use, by the flag nodejs_compat: the Workers' own types do not contain it. */
declare module 'node:async_hooks' {
  export class AsyncLocalStorage<T> {
    getStore(): T | undefined;
    run<R>(store: T, work: () => R): R;
  }
}
