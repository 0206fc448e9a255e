/** The one class of Node's that a Worker uses here, by the flag nodejs_compat; its types are Node's and not among the Workers'. */
declare module 'node:async_hooks' {
  export class AsyncLocalStorage<T> {
    getStore(): T | undefined;
    run<R>(store: T, work: () => R): R;
  }
}
