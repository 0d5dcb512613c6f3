import { connect } from 'node:net'

const { CLAMD_ADDRESS = '/run/clamav/clamd.ctl' } = process.env

/**
 * Scans each new file by clamd, the daemon of ClamAV. A file is delivered after clamd has found nothing in it.
 *
 * @type {import('sluice/plugin').ScannerPlugin}
 */
export default {
  name: 'clamav',
  options: {
    /** The path of clamd's socket, or `<host>:<port>`. Default: CLAMD_ADDRESS, or else the socket of Debian's package. */
    address: CLAMD_ADDRESS,
    /** Larger files are not scanned. At most `StreamMaxLength` of clamd.conf, which is 25M in Debian's package. */
    maxBytes: 25 * 1024 * 1024,
    /** What happens to larger files: `refuse` treats them as infected, `deliver` as clean. */
    larger: 'refuse',
    /** Whether infected files are deleted permanently. Files that are too large are not. */
    remove: false,
  },

  async check(options, { signal }) {
    const reply = await ask(options.address, { command: 'PING', signal })
    if (reply !== 'PONG') throw unexpected(reply)
  },

  async scan(file, { options, signal }) {
    if (file.size > options.maxBytes) return tooLarge(options)
    const bytes = await file.open()
    try {
      const reply = await ask(options.address, { command: 'INSTREAM', bytes, signal })
      const signature = /^stream: (.+) FOUND$/.exec(reply)?.[1]
      if (signature) return { state: 'infected', signature, remove: options.remove === true }
      if (reply === 'stream: OK') return { state: 'clean' }
      // clamd closes the connection then. Where its reply is lost by that, the scan is retried.
      if (reply.startsWith('INSTREAM size limit exceeded')) return tooLarge(options)
      throw unexpected(reply)
    } finally {
      bytes.destroy()
    }
  },
}

function tooLarge({ larger }) {
  return larger === 'deliver' ? { state: 'clean' } : { state: 'infected', signature: 'TooLargeToScan' }
}

function unexpected(reply) {
  return new Error(`clamd responded with ${JSON.stringify(reply)}`)
}

/** Sends a command, and the bytes of a file. @returns the reply, which clamd may send before it has read all bytes */
async function ask(address, { command, bytes, signal }) {
  signal.throwIfAborted()
  const connection = connect(placeOf(address)).setEncoding('utf8')
  let reply = ''
  let failure
  const stop = () => connection.destroy(signal.reason)
  signal.addEventListener('abort', stop, { once: true })
  const closed = new Promise((resolve) => connection.on('close', resolve))
  connection.on('data', (part) => {
    reply += part
  })
  connection.on('error', (error) => {
    failure ??= error
  })
  try {
    for await (const part of message(command, bytes)) {
      if (connection.destroyed || reply !== '') break
      if (connection.write(part)) continue
      await Promise.race([closed, new Promise((resolve) => connection.once('drain', resolve))])
    }
    await closed
  } finally {
    signal.removeEventListener('abort', stop)
    connection.destroy()
  }
  if (reply !== '') return reply.replace(/\0$/, '')
  throw failure ?? new Error('clamd closed the connection without a reply')
}

/** A command, then each part of the file with its length in four bytes. A part without bytes is the end. @see clamd(8), INSTREAM */
async function* message(command, bytes) {
  yield `z${command}\0`
  if (!bytes) return
  for await (const part of bytes) {
    if (part.length === 0) continue
    yield length(part.length)
    yield part
  }
  yield length(0)
}

function length(bytes) {
  const field = Buffer.alloc(4)
  field.writeUInt32BE(bytes)
  return field
}

function placeOf(address) {
  if (address.startsWith('/')) return { path: address }
  const { hostname, port } = new URL(`tcp://${address}`)
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 3310) }
}
