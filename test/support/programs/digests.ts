import { readFileSync } from 'node:fs'
import { sha256 } from '../../../src/core/bytes/digest.ts'
import { assetOf, rendered } from '../../pipeline/image/transform.ts'

// A process that transforms a file in several ways and prints a digest of each outcome, a line of JSON in all.
const [file = '', format = '', ...queries] = process.argv.slice(2)

const source = assetOf(readFileSync(file), format)
const digests = []
for (const query of queries) digests.push(sha256((await rendered({ query, source })).bytes))
console.log(JSON.stringify(digests))
