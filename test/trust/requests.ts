/** Requests as data, sent exactly as they are: paths are not tidied up, headers not completed, bodies are bytes. */
import { Agent, request as httpRequest } from 'node:http';

export interface RawRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

export interface RawResponse {
  readonly status: number;
  readonly text: string;
}

const agent = new Agent({ keepAlive: true, maxSockets: 4 });

/** Tries again on a fresh connection where the server closed an idle one in the same moment. */
export async function send(origin: string, request: RawRequest): Promise<RawResponse> {
  try {
    return await sendOnce(origin, request, agent);
  } catch {
    return sendOnce(origin, request, false);
  }
}

function sendOnce(origin: string, { method, path, headers, body }: RawRequest, over: Agent | false) {
  return new Promise<RawResponse>((resolve, reject) => {
    const { hostname, port } = new URL(origin);
    const sized = { 'content-length': String(body.length), ...headers };
    const outgoing = httpRequest(
      { hostname, port, method, path, headers: sized, agent: over },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk;
        });
        response.once('error', reject);
        response.once('end', () => resolve({ status: response.statusCode ?? 0, text }));
      },
    );
    outgoing.once('error', reject);
    outgoing.end(body);
  });
}
