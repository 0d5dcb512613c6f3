import { parentPort, workerData } from 'node:worker_threads'
import { importSource } from '../../ready/sources.js'
import { fileMaker } from './fill.js'
import { writeAll } from './redis-fill.js'

// A thread that writes its share of the files into Redis, and sends the sampled keys.
const { url, turn, turns, clientId, ...options } = workerData
const { connectKeyspaces } = await importSource('adapters/redis/keyspaces.ts')
const keyspaces = connectKeyspaces({ url })
await keyspaces.ready()
const { idOf, fileOf, sampled } = await fileMaker(options)
await writeAll(keyspaces.all, { clientId, count: options.files, idOf, fileOf, turn, turns })
await keyspaces.close()
parentPort.postMessage(sampled)
