/** The commands on receipts: `policy receipt` writes one, `policy check` trains the versions in it again. */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type Command, Option } from 'commander';
import { release } from '../../local/mesh/installation.ts';
import { duration } from '../shared/figures.ts';
import { collect, whole } from '../shared/run-options.ts';
import { type VersionName, versionName } from '../shared/version-name.ts';
import type { VerifyOptions } from '../verify/verify.ts';
import { type Common, print, printJson, subcommand, withStore, withUrl } from './command-line.ts';
import { readBytes, refuseExisting } from './files.ts';

/** Largest receipt that is read, bytes. It is in memory with what it unpacks to. */
const LARGEST_RECEIPT = 2 ** 31 - 1;

const ofVersions = (n: number): string => `${n} ${n === 1 ? 'version' : 'versions'}`;
const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;

interface ReceiptOptions extends Common {
  readonly out: string;
  readonly force: boolean;
  readonly from: number;
  readonly recipe: readonly string[];
}

export function addReceipt(parent: Command): void {
  withUrl(
    subcommand(
      parent,
      'receipt',
      'one file from which anybody can train a version again, and compare the bytes',
    ),
  )
    .argument('<name@version>', 'the version, such as trio-0@40', versionName)
    .requiredOption('--out <file>', 'the file that is written')
    .option('--force', 'write over a file that is there', false)
    .option('--from <version>', 'the ancestor that is taken as it is', whole(0), 0)
    .option('--recipe <module>', 'a recipe of your own, where the version is of it (repeat)', collect, [])
    .action(async ({ name, version: to }: VersionName, options: ReceiptOptions) => {
      refuseExisting(options.out, options.force);
      const { receiptBytes } = await import('../../local/verify/receipt.ts');
      const { writtenReceipt } = await import('./written-receipt.ts');
      const receipt = await withStore(options, (gateway) =>
        writtenReceipt(gateway, { name, version: to }, options),
      );
      const bytes = await receiptBytes(receipt);
      await mkdir(dirname(options.out), { recursive: true });
      await writeFile(options.out, bytes);
      const { versions } = receipt.contents;
      const about = {
        file: options.out,
        bytes: bytes.length,
        versions: versions.length,
        sha256: receipt.sha256,
        code: receipt.contents.code,
      };
      if (options.json) return printJson({ kind: 'receipt', policy: name, version: to, ...about });
      print(
        `${options.out}: ${megabytes(bytes.length)}, ${ofVersions(versions.length)} of ${name} after version ${options.from}. Receipt ${receipt.sha256}`,
      );
      print(`Whoever has the file checks it: npx rollmesh policy check ${options.out}`);
    });
}

export function addCheck(parent: Command): void {
  subcommand(parent, 'check', 'trains the versions of a receipt again: exits with 1 if a byte differs')
    .argument('<file>', 'a file that `policy receipt` wrote')
    .addOption(
      new Option('--device <name>', 'where to train: the kind of device that trained the version')
        .choices(['auto', 'cpu', 'webgpu'])
        .default('auto'),
    )
    .option('--threads <n>', 'threads of the CPU device (default: as many as trained the version)', whole(1))
    .option('--recipe <module>', 'a recipe of your own, where the version is of it (repeat)', collect, [])
    .action(async (file: string, options: Omit<VerifyOptions, 'from' | 'mesh'>) => {
      const began = performance.now();
      const { aboutReceipt, meshOfReceipt, readReceipt, requireRecipes } = await import(
        '../../local/verify/receipt.ts'
      );
      const { VersionChain } = await import('../../local/verify/verify-version.ts');
      const { comparedCode } = await import('../../local/verify/code.ts');
      const { codeOf } = await import('../../local/mesh/code-hashes.ts');
      const { openRecipesOf } = await import('../recipe-modules.ts');
      const { trainAgain } = await import('../verify/verify.ts');
      const bytes = await readBytes(file, LARGEST_RECEIPT);
      const receipt = await readReceipt(bytes);
      const { policy, from, to, versions, groups, trainedMs, madeBy, code } = aboutReceipt(receipt);
      if (!options.json) {
        print(`Receipt ${receipt.sha256}`);
        print(
          `${policy}@${to}, written by rollmesh ${madeBy}: ${ofVersions(versions)} after version ${from} to train again, on ${groups} groups (${megabytes(bytes.length)}). Where they were made that took ${duration(trainedMs)}.`,
        );
      }
      const mesh = meshOfReceipt(receipt);
      const chain = await VersionChain.open(mesh, policy);
      const names = await chain.recipesOf(receipt.contents.versions);
      const { modules, registry } = await openRecipesOf(names, options.state, options.recipe);
      requireRecipes(names, registry);
      const here = await codeOf(names, modules);
      if (!options.json) print(comparedCode(code, here));
      const same = await trainAgain(mesh, chain, chain.since(from, to), {
        ...options,
        meshKey: process.env.MESH_KEY,
        keep: mesh.keep,
      });
      const all = same === versions;
      const manifest = chain.row(to).manifestSha256;
      if (options.json)
        printJson({
          kind: 'checked',
          receipt: receipt.sha256,
          policy,
          version: to,
          manifest,
          from,
          versions,
          same,
          madeBy,
          code: { receipt: code ?? null, here },
        });
      else {
        print(
          all
            ? `These weights follow from these samples: ${same} of ${ofVersions(versions)} came to the committed bytes (${duration(performance.now() - began)}).`
            : `Version ${receipt.contents.versions[same]} does not follow from its records; ${versions - same - 1} later versions were not trained.`,
        );
        print(`Manifest of ${policy}@${to}: ${manifest}`);
        if (!all && madeBy !== release())
          print(
            `Release ${madeBy} wrote the receipt; this is ${release()}. Another release may train otherwise: check it with that one.`,
          );
      }
      if (!all) process.exitCode = 1;
    });
}
