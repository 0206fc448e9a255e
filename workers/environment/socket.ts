/** WebSockets of a Worker, for environments of OpenEnv: a request that asks for the upgrade, which takes headers. */
import type { Connect } from '../api/openenv-client.ts';

export const workerSocket: Connect = (url, headers, { received, ended }) => {
  const stop = new AbortController();
  let socket: WebSocket | null = null;
  const open = async (): Promise<boolean> => {
    const response = await fetch(url.replace(/^ws/, 'http'), {
      headers: { ...headers, upgrade: 'websocket' },
      // Where a redirect leads is not what was named.
      redirect: 'manual',
      signal: stop.signal,
    });
    if (!response.webSocket) throw new Error(`the server answers ${response.status}`);
    socket = response.webSocket;
    socket.addEventListener('message', ({ data }) => received(String(data)));
    socket.addEventListener('close', ({ code }) =>
      ended(new Error(`the connection was closed with the code ${code}`)),
    );
    socket.accept();
    return true;
  };
  return {
    opened: open().catch((error: unknown) => {
      ended(error);
      return false;
    }),
    isOpen: () => socket?.readyState === WebSocket.OPEN,
    send: (text) => socket?.send(text),
    close: () => {
      if (socket) socket.close();
      else stop.abort();
    },
  };
};
