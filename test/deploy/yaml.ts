import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

// The YAML parser of mocha.
const parser = createRequire(createRequire(import.meta.url).resolve('mocha'))('js-yaml') as {
  load(text: string): unknown
  loadAll(text: string): unknown[]
}

/** The value of a YAML file with one document. */
export const readYaml = (file: string): unknown => parser.load(readFileSync(file, 'utf8'))

/** The documents of a YAML text, without empty ones. */
export const documents = (text: string): unknown[] =>
  parser.loadAll(text).filter((document) => document !== null && document !== undefined)
