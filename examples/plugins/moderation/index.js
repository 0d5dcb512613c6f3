import { createHmac } from 'node:crypto'
import { apiOf } from './api.mjs'
import { classify } from './classifier.mjs'

const { MODERATION_SECRETS = '', MODERATION_NOTIFY_SECRET = '' } = process.env

/**
 * Classifies each uploaded image. The result goes into its metadata; unsafe images are tagged, and may be moved to a private folder.
 *
 * @type {import('sluice/plugin').EventPlugin}
 */
export default {
  name: 'moderation',
  durable: true,
  options: {
    /** A secret for each client whose images are classified, by the id of the client. MODERATION_SECRETS: `first=sec_… second=sec_…` */
    secrets: Object.fromEntries(MODERATION_SECRETS.match(/\S+/g)?.map((pair) => pair.split('=', 2)) ?? []),
    /** The address at which this process reaches Sluice. Empty: BASE_URL. */
    url: '',
    /** Ranges of addresses that `url` and `notify` may have although they are not public. */
    allowAddresses: ['127.0.0.0/8', '::1/128'],
    /** An image is unsafe when the probabilities of these classes have this sum or more. */
    classes: ['porn', 'hentai'],
    threshold: 0.7,
    /** Unsafe images get this tag. */
    tag: 'unsafe',
    /** Unsafe images are moved into this folder. Empty: they stay. */
    quarantine: '',
    /** Unsafe images are reported to this URL, signed with this secret (`whsec_…`). Empty: they are not. */
    notify: '',
    notifySecret: MODERATION_NOTIFY_SECRET,
    /** The module of the model, and the width and height of its images. */
    model: new URL('nsfw.mjs', import.meta.url).href,
    side: 224,
    /** Limits of the child process: the time for an image, after the model was loaded, and its memory. */
    timeoutMs: 5000,
    maxMemoryBytes: 500_000_000,
  },
  targets(_name, options) {
    check(options)
    return ['moderation']
  },
  on: { 'original.stored': moderate, 'original.scanned': moderateScanned },
}

function check({ secrets, classes, threshold, notify, notifySecret }) {
  const isText = (value) => typeof value === 'string' && value !== ''
  if (!Object.values(secrets).every(isText))
    throw new Error(
      'expected <client>=<secret> in MODERATION_SECRETS, or a secret for each client in secrets',
    )
  if (!Array.isArray(classes) || !classes.every(isText))
    throw new Error('expected an array of names for classes')
  if (!(threshold > 0 && threshold <= 1))
    throw new Error('expected a number above 0 and up to 1 for threshold')
  if (notify && !/^whsec_[A-Za-z0-9+/]{32,}={0,2}$/.test(notifySecret))
    throw new Error('expected whsec_ and at least 24 bytes in base64 for notifySecret, since notify is set')
}

/** With a scanner plugin, an image cannot be rendered before its malware scan has ended. */
async function moderateScanned(event, context) {
  if (event.scan.state === 'clean') await moderate(event, context)
}

async function moderate(event, context) {
  const { options, log } = context
  const secret = options.secrets[event.clientId]
  if (!secret || !event.mediaType.startsWith('image/')) return
  // A copy or moved file has the metadata of its source. The event of our own move may lack `movedFrom`, after a crash for example.
  if (event.copiedFrom || event.movedFrom || isIn(options.quarantine, event.folder)) return
  const origin = options.url || new URL(event.src).origin
  const api = apiOf({ ...context, ...options, origin, secret })
  const picture = await api.picture(event, options.side)
  if (!picture) return log.info({ key: event.key }, 'moderation: this image cannot be rendered')
  const classes = await classify(picture, options)
  const score = options.classes.reduce((sum, name) => sum + (classes[name] ?? 0), 0)
  const isUnsafe = score >= options.threshold
  const record = await api.record(event.key)
  if (!record) return
  await api.change(event.key, {
    etag: record.etag,
    metadata: { moderation: isUnsafe ? 'unsafe' : 'safe', moderation_score: score.toFixed(3) },
    ...(isUnsafe ? { tags: [...new Set([...record.tags, options.tag])] } : {}),
  })
  if (!isUnsafe) return
  log.warn({ key: event.key, score }, 'moderation: an image is unsafe')
  if (options.notify) await notify({ clientId: event.clientId, key: event.key, score, classes }, context)
  // The last step: an event that is delivered again finds no image at this key.
  if (options.quarantine) await api.move(event.key, options.quarantine)
}

function isIn(parent, folder) {
  return parent !== '' && `${folder}/`.startsWith(`${parent}/`)
}

/** @see https://www.standardwebhooks.com */
async function notify(data, { id, occurredAt, options, fetch, signal }) {
  const timestamp = Math.floor(Date.now() / 1000)
  const body = JSON.stringify({ type: 'moderation.unsafe', timestamp: occurredAt.toISOString(), data })
  const key = Buffer.from(options.notifySecret.slice('whsec_'.length), 'base64')
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
  const { port } = new URL(options.notify)
  const response = await fetch({
    url: options.notify,
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': `v1,${signature}`,
    },
    body,
    signal,
    timeoutMs: 5000,
    maxBytes: Number.MAX_SAFE_INTEGER,
    access: { addresses: options.allowAddresses, ports: port === '' ? [] : [Number(port)] },
  })
  response.body.destroy()
  if (response.status < 200 || response.status > 299)
    throw new Error(`the receiver responded with ${response.status}`)
}
