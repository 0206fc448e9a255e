/**
 * A node's thread over a server that takes token ids, as vLLM, SGLang and llama.cpp do, for machines whose GPU such a server has already: with
 * the one version that the server holds, or also with adapters over it. Its last digits are not those of the mesh, so this takes the token of a close node.
 */
import { RollmeshError, wrongInput } from '../../core/errors.ts';
import type { Completion } from '../../core/policy/policy.ts';
import { type LeasedFile, type SamplingRequest, settingsOf } from '../../core/schema/work.ts';
import { createRemotePolicy } from '../../infer/remote/policy.ts';
import { parseConfig } from '../../model/config.ts';
import { contextLength } from '../../model/onnx/policy-graph.ts';
import type { FileBytes } from './compute.ts';
import type { FollowedVersions, ServerOfNode } from './followed-versions.ts';
import type { Compute } from './lend.ts';

/** What is fetched of a version: its shape, and its adapter. The server has the weights. */
export const withoutWeights = ({ config, adapter }: SamplingRequest): readonly LeasedFile[] =>
  adapter ? [config, adapter] : [config];

/**
 * `followed`: by what the server is given adapters; absent = it holds one version.
 * @throws RollmeshError `node.server` or `node.adapters` of kind `wrong-input` where the server answers what no server of this version would
 */
export function askingServer(server: ServerOfNode, followed?: FollowedVersions): Compute {
  const answer = async (request: SamplingRequest, files: FileBytes): Promise<Completion[][]> => {
    const { policy: ref, config: file, adapter: own, vocabSize, prompts } = request;
    const config = parseConfig(JSON.parse(new TextDecoder().decode(files[file.sha256])));
    const options = { ...server, ref, vocabSize, context: contextLength(config) };
    const sample = (adapter?: string) =>
      createRemotePolicy(adapter === undefined ? options : { ...options, adapter }).generate(
        prompts,
        settingsOf(request),
      );
    try {
      if (!own || !followed) return await sample();
      return await followed.with(ref, own.sha256, { config, bytes: files[own.sha256]! }, sample);
    } catch (error) {
      if (!(error instanceof RollmeshError) || error.kind === 'retry' || error.code === 'node.adapters')
        throw error;
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
  return (requests, files) => Promise.all(requests.map((request) => answer(request, files)));
}
