/** WebSockets of Node for environments of OpenEnv, by undici, which takes headers and bounds what a message may hold. */
import { Agent, WebSocket } from 'undici';
import { MOST_BYTES } from './environment-http.ts';
import type { Connect } from './openenv-client.ts';

/** The most bytes of a message that are kept at all: a longer one ends the connection. */
const MOST_KEPT_BYTES = 16 * MOST_BYTES;

const dispatcher = new Agent({ webSocket: { maxPayloadSize: MOST_KEPT_BYTES } });

export const nodeSocket: Connect = (url, headers, { received, ended }) => {
  const socket = new WebSocket(url, { dispatcher, headers: { ...headers } });
  const opened = new Promise<boolean>((resolve) => {
    socket.onopen = () => resolve(true);
    socket.onmessage = ({ data }) => received(String(data));
    socket.onerror = ({ error }) => {
      ended(error);
      resolve(false);
    };
    socket.onclose = ({ code }) => {
      ended(new Error(`the connection was closed with the code ${code}`));
      resolve(false);
    };
  });
  return {
    opened,
    isOpen: () => socket.readyState === WebSocket.OPEN,
    send: (text) => socket.send(text),
    close: () => socket.close(),
  };
};
