/** How the learner and the commands fetch the files of a version: all at once, each checked by its hash. */
import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { GatewayClient } from '../../workers/api/gateway-client.ts';

const contents = {
  'config.json': '{}',
  'tokenizer.json': '{"model":{}}',
  'model.safetensors': 'weights',
  'optimizer.safetensors': 'moments',
};
const files = Object.fromEntries(
  Object.entries(contents).map(([file, text]) => [file, new TextEncoder().encode(text)]),
);
const manifest = {
  policy: 'mine',
  version: 3,
  parent: 2,
  groups: [],
  round: null,
  settings: {},
  files: Object.fromEntries(
    Object.entries(files).map(([file, bytes]) => [
      file,
      { sha256: createHash('sha256').update(bytes).digest('hex'), bytes: bytes.length },
    ]),
  ),
};

/** A gateway that answers what is asked of files once as many were asked for, and else never. */
function gatewayOf(together: number, stored: Readonly<Record<string, Uint8Array>> = files) {
  const asked: string[] = [];
  const waiting: (() => void)[] = [];
  const client = new GatewayClient({
    url: 'http://mesh.test',
    token: 'secret',
    fetch: async (url) => {
      const file = new URL(String(url)).pathname.slice('/api/objects/policies/mine/3/'.length);
      if (file === 'manifest.json') return Response.json(manifest);
      asked.push(file);
      if (asked.length === together) for (const answer of waiting) answer();
      else await new Promise<void>((resolve) => waiting.push(resolve));
      return new Response(stored[file]!.slice());
    },
  });
  return { asked, client };
}

const REF = { name: 'mine', version: 3 };

test('the files of a version are asked for at once, and only those that are wanted', async () => {
  const all = gatewayOf(4);
  expect(await all.client.getVersion(REF)).toEqual(files);
  const some = gatewayOf(2);
  expect(await some.client.getVersion(REF, ['model.safetensors', 'config.json', 'memory.json'])).toEqual({
    'config.json': files['config.json'],
    'model.safetensors': files['model.safetensors'],
  });
  expect(some.asked.toSorted()).toEqual(['config.json', 'model.safetensors']);
});

test('one that is not the manifest’s among them is refused by its key', async () => {
  const { client } = gatewayOf(4, { ...files, 'model.safetensors': new TextEncoder().encode('weightz') });
  await expect(client.getVersion(REF)).rejects.toThrow('policies/mine/3/model.safetensors has other bytes');
});
