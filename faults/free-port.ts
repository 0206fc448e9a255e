/** Finds ports for servers that must have the same port again after a restart. */
import { createServer } from 'node:net';

/** A port on which no process listens at this moment. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() =>
        typeof address === 'object' && address
          ? resolve(address.port)
          : reject(new Error('internal: no port was given')),
      );
    });
  });
}
