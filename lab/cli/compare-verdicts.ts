import { writeFile } from 'node:fs/promises';
import { changedLines, verdictLines } from './verdicts.ts';

if (process.argv.includes('--write'))
  await writeFile('verdicts.txt', `${(await verdictLines()).join('\n')}\n`);
const changed = await changedLines();
for (const line of changed) console.log(line);
console.log(
  changed.length ? `${changed.length} lines differ.` : 'All verdicts and digits are those of verdicts.txt.',
);
process.exit(changed.length ? 1 : 0);
