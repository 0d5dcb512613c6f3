import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import type { Command } from 'commander'
import { VARIABLES } from '../../config/schema.ts'
import { commandLine } from '../../src/process/cli/command-line.ts'

const BLOCK = /^ *```(\w*)\n([\s\S]*?)^ *```/gm
// `sluice` as a program, on its own or started by another one: not as the name of a user, a service or a container.
const PROGRAM =
  /(?:(?:^ *|npx |run -s |&& |web |-- |command ')sluice (?:-- )?|scripts\/sluice\.sh )([a-z-]+(?=[\s']|$).*)/gm
const INLINE = /`(?:npx )?sluice ([a-z][^`\n]+)`/g
// Of the container's build, of a buildpack of Heroku, and of an example plugin.
const OTHER_VARIABLES = ['PACKAGES', 'LD_LIBRARY_PATH', 'MODERATION_SECRETS']

const PAGES = [
  'README.md',
  'CONTRIBUTING.md',
  ...readdirSync('docs', { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md') && !file.startsWith('node_modules'))
    .map((file) => join('docs', file)),
].map((page) => ({ page, text: readFileSync(page, 'utf8') }))

/** The arguments of a command: what a reader types for a placeholder such as `<id>` is its name. Redirections and comments are no arguments. */
function argumentsOf(line: string): string[] {
  const command = line.replace(/<([\w/ ]+)>/g, (_, name: string) => name.replaceAll(' ', '-'))
  const all = [...command.matchAll(/'([^']*)'|"([^"]*)"|([^\s']+)/g)]
  const end = all.findIndex(([, , , bare]) => bare !== undefined && /^(#|\||>|<|&&)/.test(bare))
  return all
    .slice(0, end === -1 ? all.length : end)
    .map(([, single, double, bare]) => single ?? double ?? bare ?? '')
}

/** The blocks of a page that are typed into a shell, or that set its variables. */
function shellBlocks(text: string): string[] {
  return [...text.matchAll(BLOCK)].flatMap(([, language = '', code = '']) =>
    ['sh', 'bash'].includes(language) ? [code.replaceAll('\\\n', ' ')] : [],
  )
}

/** The command line of which no command does anything. */
function idleCommandLine(writeError: (text: string) => void = () => {}): Command {
  const nothing = async () => {}
  const actions = { perform: nothing, become: nothing, diagnose: nothing, newPlugin: nothing, init: nothing }
  return commandLine({ ...actions, upgrade: nothing, storageSecret: 'secret', write: () => {}, writeError })
}

/** What is wrong with the usage of a command, without its effect; empty when nothing is. */
async function misuse(args: string[]): Promise<string> {
  // It asks a server at once.
  if (args[0] === 'types') return args.length > 2 ? 'too many arguments' : ''
  let printed = ''
  const sluice = idleCommandLine((text) => {
    printed += text
  })
  const error = await sluice.parseAsync(args, { from: 'user' }).then(
    () => undefined,
    (thrown: Error) => thrown,
  )
  return error ? printed || error.message : ''
}

/** The words of a mentioned command, such as `client set --allowed-widths`, that name no command and no option of it. */
function unknownWords(args: string[]): string[] {
  let command = idleCommandLine()
  return args.filter((word) => {
    const next = command.commands.find((one) => one.name() === word)
    if (next) command = next
    // The server has options of its own.
    else if (word.startsWith('--') && !['start', 'worker'].includes(command.name()))
      return word !== '--help' && !command.options.some(({ long }) => long === word)
    return !next && !word.startsWith('--') && command.commands.length > 0
  })
}

describe('what the pages tell to type', () => {
  it('are commands that the command line accepts', async () => {
    const typed = PAGES.flatMap(({ page, text }) =>
      shellBlocks(text).flatMap((code) =>
        [...code.matchAll(PROGRAM)].map(([, command = '']) => ({ page, args: argumentsOf(command) })),
      ),
    )
    expect(typed.length).to.be.above(60)
    const wrong: string[] = []
    for (const { page, args } of typed) {
      const reason = await misuse(args)
      if (reason !== '') wrong.push(`${page}: sluice ${args.join(' ')}: ${reason}`)
    }
    expect(wrong).to.deep.equal([])
  })

  it('are commands and options that exist, where a sentence mentions them', () => {
    const mentioned = PAGES.flatMap(({ page, text }) =>
      [...text.replace(BLOCK, '').matchAll(INLINE)].map(([, command = '']) => ({
        page,
        args: argumentsOf(command),
      })),
    )
    expect(mentioned.length).to.be.above(90)
    const wrong = mentioned.flatMap(({ page, args }) =>
      unknownWords(args.filter((word) => word !== '…')).map((word) => `${page}: ${args.join(' ')}: ${word}`),
    )
    expect(wrong).to.deep.equal([])
  })

  it('are variables of the service, or used in the same page', () => {
    const wrong = PAGES.flatMap(({ page, text }) =>
      shellBlocks(text).flatMap((code) =>
        [...code.matchAll(/(?:^|[ ;])([A-Z][A-Z\d_]{2,})=/gm)]
          .map(([, name = '']) => name)
          .filter(
            (name) => !(name in VARIABLES) && !OTHER_VARIABLES.includes(name) && !text.includes(`$${name}`),
          )
          .map((name) => `${page}: ${name}`),
      ),
    )
    expect(wrong).to.deep.equal([])
  })
})
