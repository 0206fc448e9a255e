/**
 * A node's thread over a server that speaks OpenAI's completions protocol, as vLLM and llama.cpp do, for machines whose GPU such a server
 * has already. Its last digits are not those of the mesh, so this takes the token of a close node.
 */
import { RollmeshError, wrongInput } from '../../core/errors.ts';
import type { Completion } from '../../core/policy/policy.ts';
import { type LeasedFile, type SamplingRequest, settingsOf } from '../../core/schema/work.ts';
import { createRemotePolicy, type RemoteOptions } from '../../infer/remote/policy.ts';
import { parseConfig } from '../../model/config.ts';
import { contextLength } from '../../model/onnx/policy-graph.ts';
import type { Compute } from './lend.ts';

export type ServerOfNode = Pick<RemoteOptions, 'baseUrl' | 'model' | 'apiKey' | 'dialect'>;

/** What is fetched of a version: its shape. The server has the weights. */
export const shapeOnly = ({ config }: SamplingRequest): readonly LeasedFile[] => [config];

/** @throws RollmeshError `node.server` of kind `wrong-input` where the server answers what no server of this version would */
export function askingServer(server: ServerOfNode): Compute {
  const answer = async (request: SamplingRequest, bytes: Uint8Array): Promise<Completion[][]> => {
    const { policy: ref, config: file, vocabSize, prompts } = request;
    const config = parseConfig(JSON.parse(new TextDecoder().decode(bytes)));
    const policy = createRemotePolicy({ ...server, ref, vocabSize, context: contextLength(config) });
    try {
      return await policy.generate(prompts, settingsOf(request));
    } catch (error) {
      if (!(error instanceof RollmeshError) || error.kind === 'retry') throw error;
      // Tried again it would come to the same, and meanwhile nobody else could have the request.
      throw wrongInput(
        'node.server',
        `${server.baseUrl} cannot answer for ${ref.name}@${ref.version}: ${error.message}`,
        {
          expected: `a server of this version, whose config.json has sha256 ${file.sha256}`,
          next: 'Check --server, --model and --dialect. The requests were given back.',
        },
      );
    }
  };
  return (requests, files) =>
    Promise.all(requests.map((request) => answer(request, files[request.config.sha256]!)));
}
