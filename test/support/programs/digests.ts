import { readFileSync } from 'node:fs'
import { sha256 } from '../../../src/core/bytes/digest.ts'
import { transformed } from '../../pipeline/image/transform.ts'

// A process that transforms a file in several ways and prints a digest of each outcome, a line of JSON in all.
const [file = '', format = '', ...queries] = process.argv.slice(2)

const bytes = readFileSync(file)
const digests = []
for (const query of queries) digests.push(sha256((await transformed(bytes, query, { format })).bytes))
console.log(JSON.stringify(digests))
