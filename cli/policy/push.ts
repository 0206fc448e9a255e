/** `policy push`: publishes a version on the Hugging Face Hub, with a model card that is made from its run. */
import { openAsBlob } from 'node:fs';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRepo, HubApiError, uploadFiles } from '@huggingface/hub';
import { RollmeshError, wrongInput } from '../../core/errors.ts';
import type { PolicyRef } from '../../core/policy/policy.ts';
import { release } from '../../local/mesh/installation.ts';
import type { StorageType } from '../../model/safetensors.ts';
import type { GatewayClient } from '../../workers/api/gateway-client.ts';
import { exportCheckpoint } from './export-checkpoint.ts';
import { type HubOptions, hubAccess } from './hub.ts';
import { modelCard, RECEIPT_FILE, trainingOf } from './model-card.ts';

export interface PushOptions {
  /** `ORG/NAME` */
  readonly repository: string;
  readonly dtype: StorageType | undefined;
  readonly adapter: boolean;
  /** `ORG/NAME` of what the adapter is for. */
  readonly base: string | undefined;
  /** Everybody may read it; a repository that is there keeps what it has. */
  readonly public: boolean;
  /** Puts a receipt of all its versions beside the weights. */
  readonly receipt: boolean;
  /** The state folder, which may have the recipe's module. */
  readonly state: string;
}

export interface Pushed {
  readonly repository: string;
  /** The commit on the Hub. */
  readonly commit: string;
  readonly url: string;
  readonly files: readonly string[];
}

/** Writes a receipt from version 0 to this one into the folder. */
async function addReceipt(
  gateway: GatewayClient,
  { name, version }: PolicyRef,
  folder: string,
  state: string,
): Promise<void> {
  const [{ receiptBytes }, { writtenReceipt }] = await Promise.all([
    import('../../local/verify/receipt.ts'),
    import('./written-receipt.ts'),
  ]);
  const receipt = await writtenReceipt(gateway, { name, version }, { from: 0, state, recipe: [] });
  await writeFile(join(folder, RECEIPT_FILE), await receiptBytes(receipt));
}

function refused(error: unknown, repository: string, hubUrl: string): unknown {
  if (error instanceof RollmeshError) return error;
  if (error instanceof HubApiError)
    return [401, 403].includes(error.statusCode)
      ? wrongInput('hub.refused', `${hubUrl} takes nothing into ${repository}: status ${error.statusCode}.`, {
          expected: 'a token in HF_TOKEN that may write there',
          next: 'Make one with the right “write” in the settings of your account.',
          cause: error,
        })
      : wrongInput('hub.unreachable', `${hubUrl} answers with status ${error.statusCode}: ${error.message}`, {
          cause: error,
        });
  if (error instanceof TypeError && error.message === 'fetch failed')
    return wrongInput('hub.unreachable', `${hubUrl} cannot be reached.`, {
      expected: 'an answer of the Hub, or of the server in HF_ENDPOINT',
      next: 'Run the command again where there is a network: nothing was published.',
      cause: error,
    });
  return error;
}

/**
 * Publishes a version in one commit. The repository is made where it is missing, and private unless `public` says otherwise.
 *
 * @throws RollmeshError `hub.token`, `hub.refused`, `hub.unreachable`, or what an export throws
 */
export async function pushVersion(
  gateway: GatewayClient,
  ref: PolicyRef,
  { repository, dtype, adapter, base, public: open, receipt, state }: PushOptions,
  { env, say }: HubOptions,
): Promise<Pushed> {
  const { hubUrl, accessToken } = hubAccess(env);
  if (accessToken === undefined)
    throw wrongInput('hub.token', 'HF_TOKEN is not set.', {
      expected: `a token of the Hub that may write to ${repository}`,
      next: 'Make one with the right “write” in the settings of your account.',
    });
  const temporary = await mkdtemp(join(tmpdir(), 'rollmesh-push-'));
  const folder = join(temporary, 'version');
  try {
    const exported = await exportCheckpoint(gateway, ref, folder, dtype, { adapter, base });
    const manifest = await gateway.getManifest(ref);
    const first = await gateway.getManifest({ ...ref, version: 0 });
    const { importedFrom } = first.settings;
    if (receipt) await addReceipt(gateway, ref, folder, state);
    await writeFile(
      join(folder, 'README.md'),
      modelCard({
        ref,
        importedFrom: typeof importedFrom === 'string' ? importedFrom : undefined,
        base,
        training: await trainingOf(gateway, manifest),
        adapter: exported.base !== undefined,
        receipt,
        release: release(),
      }),
    );
    const to = { repo: repository, hubUrl, accessToken };
    const known = await createRepo({ ...to, visibility: open ? 'public' : 'private' }).catch(
      (error: unknown) => {
        if (error instanceof HubApiError && error.statusCode === 409) return null;
        throw error;
      },
    );
    say(known ? `${repository} is made, ${open ? 'public' : 'private'}.` : `${repository} is there already.`);
    const names = (await readdir(folder)).sort();
    const files = await Promise.all(
      names.map(async (path) => ({ path, content: await openAsBlob(join(folder, path)) })),
    );
    say(`${repository}: ${names.join(', ')}`);
    const done = await uploadFiles({
      ...to,
      files,
      commitTitle: `Add ${ref.name}, version ${ref.version}`,
      // Plain uploads go by LFS to the Hub and to its mirrors alike.
      useXet: false,
    });
    if (!done) throw new Error('internal: the Hub named no commit');
    return { repository, commit: done.commit.oid, url: `${hubUrl}/${repository}`, files: names };
  } catch (error) {
    throw refused(error, repository, hubUrl);
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}
