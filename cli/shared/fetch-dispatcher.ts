/**
 * Lets the process survive a server that closes a connection in the middle of an answer. In undici 7, which Node 24 has inside, an assertion
 * fails in the socket's own event where the answer is read more slowly than it arrives: no caller can catch it, and the process ends. undici 8
 * gives the caller an error (github.com/nodejs/undici, issue 5360). It carries the requests of the global `fetch` once it is the dispatcher.
 */
if (process.versions.undici?.startsWith('7.')) {
  const { Agent, setGlobalDispatcher } = await import('undici');
  setGlobalDispatcher(new Agent());
}
