/** The table of recipes, filtered by words: a row stays where every word occurs in it or in its method section. */
const table = document.querySelector('main table');
const rows = [...table.tBodies[0].rows];
const field = document.getElementById('filter');
const said = document.getElementById('said');
const texts = await fetch(new URL('recipe-texts.json', location.href)).then((answer) => answer.json());

function show() {
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const row of rows) {
    const name = row.cells[0].textContent.trim();
    const text = `${row.textContent} ${texts[name] ?? ''}`.toLowerCase();
    row.hidden = !words.every((word) => text.includes(word));
    if (!row.hidden) shown++;
  }
  said.textContent = `${shown} of ${rows.length} recipes.`;
}
field.addEventListener('input', show);
show();
