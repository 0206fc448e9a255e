/** Checks that a port is free before the mesh is started, whose own message would come late and with a stack. */
import { createServer } from 'node:net';
import { wrongInput } from '../core/errors.ts';

const CHOOSE = 'Choose another with --port, or --port 0 for any that is free.';

/** @throws RollmeshError `start.port` where the port is taken or this user may not open it. */
export async function refuseTakenPort(port: number, host = '127.0.0.1'): Promise<void> {
  if (port === 0) return;
  const code = await new Promise<string | undefined>((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
  if (code === undefined) return;
  const what =
    code === 'EADDRINUSE'
      ? `Port ${port} is in use.`
      : code === 'EACCES'
        ? `Port ${port} may not be opened by this user.`
        : `Port ${port} cannot be opened: ${code}.`;
  throw wrongInput('start.port', what, { expected: 'a port that is free', next: CHOOSE });
}
