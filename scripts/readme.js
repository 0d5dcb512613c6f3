import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describeVariables } from '../config/load.ts'
import { shippedParameters } from '../src/assembly/shipped-parameters.ts'
import { CLIENT_RULES } from '../src/core/clients/rules/table.ts'
import { CLOUDINARY_OPTIONS } from '../src/core/compat/cloudinary-options.ts'
import { IMGPROXY_OPTIONS } from '../src/core/compat/imgproxy-options.ts'
import { OPENINARY_OPTIONS } from '../src/core/compat/openinary.ts'
import { endpointErrors } from './readme/endpoint-errors.js'
import { FORMAT_HEADINGS, formats } from './readme/formats.js'
import { limits } from './readme/limits.js'
import { rateLimits } from './readme/rate-limits.js'
import { root } from './ready/run.js'

const HELP = `npm run readme

Generates the tables of docs/reference from the data of the program. Each table is between two marks.
With -- --check it writes nothing, and exits with 1 when a table is out of date.`

/** The page of docs/reference for each table. */
const PAGES = {
  variables: 'configuration.md',
  parameters: 'image-parameters.md',
  'video parameters': 'video-parameters.md',
  'audio parameters': 'audio-parameters.md',
  'document parameters': 'document-parameters.md',
  'endpoint errors': 'errors.md',
  limits: 'limits.md',
  'rate limits': 'rate-limits.md',
  formats: 'formats.md',
  'client rules': 'client-rules.md',
  'cloudinary options': 'compat-urls.md',
  'imgproxy options': 'compat-urls.md',
  'openinary options': 'compat-urls.md',
}

/** The text of each table, by name. */
async function tables() {
  const { image, video, audio, application } = await shippedParameters(root)
  return {
    variables: variables(),
    parameters: parameters(image),
    'video parameters': parameters(video),
    'audio parameters': parameters(audio),
    'document parameters': parameters(application),
    'endpoint errors': table(['Request', 'Errors'], endpointErrors()),
    limits: table(['What', 'Limit'], limits()),
    'rate limits': table(['Limit', 'Counts', 'Per client', 'Per IP address'], rateLimits()),
    formats: table(FORMAT_HEADINGS, formats({ video: usualOutput(video), audio: usualOutput(audio) })),
    'client rules': clientRules(),
    'cloudinary options': foreignOptions(CLOUDINARY_OPTIONS, '_'),
    'imgproxy options': foreignOptions(IMGPROXY_OPTIONS, ':'),
    'openinary options': foreignOptions(OPENINARY_OPTIONS, '_'),
  }
}

/** The options of another service, with our equivalents. Options with the same equivalent, such as aliases, share a row. */
function foreignOptions(options, separator) {
  const rows = new Map()
  for (const [name, option] of Object.entries(options)) rows.set(option, [...(rows.get(option) ?? []), name])
  return table(
    ['Option', 'Equivalent'],
    [...rows].map(([{ equivalent }, names]) => [
      names.map((name) => `\`${name}${separator}\``).join(', '),
      equivalent,
    ]),
  )
}

function variables() {
  const rows = describeVariables().map(({ name, default: value, expected, help }) => [
    `\`${name}\``,
    value ? `\`${value}\`` : '',
    expected,
    help,
  ])
  return table(['Variable', 'Default', 'Accepted values', 'Description'], rows)
}

function clientRules() {
  const rows = Object.entries(CLIENT_RULES).map(([name, { flags, docs }]) => [
    `\`${flags.split(' ')[0]} ${docs.example}\``,
    [`\`${name}\``, docs.json].filter(Boolean).join(' '),
    docs.effect,
  ])
  return table(['Option', 'Over HTTP', 'Effect'], rows)
}

function parameters(described) {
  const rows = described.map(({ plugin, name, aliases, expected, default: value, help }) => [
    [name, ...aliases].map((word) => `\`${word}\``).join(', '),
    `${expected}${value === undefined ? '' : ` (default ${value})`}`,
    help,
    `\`${plugin}\``,
  ])
  return table(['Parameter', 'Accepted values', 'Description', 'Plugin'], rows)
}

/** The format that the parameter `f` of video or audio has by default: its first value, when no default is declared. */
function usualOutput(described) {
  const { default: value, values } = described.find(({ name }) => name === 'f')
  return value ?? values[0]
}

function table(head, rows) {
  const line = (cells) => `| ${cells.map(shown).join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}

/** Escapes "<" outside of code: `<sourceName>` would be an invisible HTML tag. */
function shown(cell) {
  const parts = cell.replaceAll('|', '\\|').split('`')
  return parts.map((part, i) => (i % 2 === 0 ? part.replaceAll('<', '\\<') : part)).join('`')
}

function fill(text, name, content) {
  const [begin, end] = [`<!-- ${name}: made by npm run readme -->`, `<!-- end of ${name} -->`]
  const [from, to] = [text.indexOf(begin), text.indexOf(end)]
  if (from === -1 || to < from) throw new Error(`The page must have the marks ${begin} and ${end}`)
  return `${text.slice(0, from + begin.length)}\n${content}\n${text.slice(to)}`
}

if (process.argv.includes('--help')) console.log(HELP)
else {
  for (const [name, content] of Object.entries(await tables())) {
    const page = `docs/reference/${PAGES[name]}`
    const before = readFileSync(join(root, page), 'utf8')
    const after = fill(before, name, content)
    if (!process.argv.includes('--check')) writeFileSync(join(root, page), after)
    else if (after !== before) {
      console.error(`${page} is out of date. Run npm run readme`)
      process.exitCode = 1
    }
  }
}
