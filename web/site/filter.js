/**
 * The table of recipes, filtered: a row stays where it has the value that is chosen of each field, and every word occurs in it or in its method section. What
 * is asked for is in the address, so that it can be linked to.
 */
const table = document.querySelector('main table');
const filters = document.getElementById('filters');
const said = document.getElementById('said');
const words = filters.querySelector('input');
/** Of each row the fields of its recipe, as recipe-fields.js has them. */
const rows = [...table.tBodies[0].rows].map((row) => {
  const { text, ...fields } = globalThis.recipeFields[row.cells[0].textContent.trim()];
  return { row, fields, text: `${row.textContent} ${text}`.toLowerCase() };
});

/** The choice of a field, most frequent values first. */
function choiceOf(field) {
  const counts = new Map();
  for (const { fields } of rows)
    for (const value of fields[field]) counts.set(value, (counts.get(value) ?? 0) + 1);
  const values = [...counts].sort(([a, many], [b, more]) => more - many || a.localeCompare(b));
  const select = document.createElement('select');
  select.name = field;
  select.append(
    new Option('any', ''),
    ...values.map(([value, count]) => new Option(`${value} (${count})`, value)),
  );
  select.id = `field-${field}`;
  const label = document.createElement('label');
  label.htmlFor = select.id;
  label.textContent = field;
  const place = document.createElement('div');
  place.append(label, select);
  filters.append(place);
  return select;
}
const choices = Object.keys(rows[0].fields).map(choiceOf);
const controls = [words, ...choices];

function show() {
  const sought = words.value.toLowerCase().split(/\s+/).filter(Boolean);
  const chosen = choices.filter(({ value }) => value);
  for (const { row, fields, text } of rows)
    row.hidden = !(
      sought.every((word) => text.includes(word)) &&
      chosen.every(({ name, value }) => fields[name].includes(value))
    );
  const shown = rows.filter(({ row }) => !row.hidden).length;
  said.textContent = `${shown} of ${rows.length} recipes.`;
}

/** Shows what the address asks for; a value that no recipe has is none. */
function read() {
  const asked = new URLSearchParams(location.hash.slice(1));
  for (const control of controls) {
    control.value = asked.get(control.name) ?? '';
    if (control.selectedIndex === -1) control.value = '';
  }
  show();
}

function write() {
  const asked = controls.filter(({ value }) => value).map(({ name, value }) => [name, value]);
  history.replaceState(null, '', `#${new URLSearchParams(asked)}`);
  show();
}

filters.addEventListener('input', write);
document.getElementById('clear').addEventListener('click', () => {
  for (const control of controls) control.value = '';
  write();
});
addEventListener('hashchange', read);
read();
