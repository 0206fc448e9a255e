/** Prints the hashes of the code that the package is built from, which its receipts name. */
import { codeOfRelease } from '../local/mesh/code-hashes.ts';

process.stdout.write(JSON.stringify(await codeOfRelease()));
