import { isRetryable } from '../queue/failure.ts'
import { isActive, type UploadItem } from '../queue/item.ts'
import { isOffline } from '../queue/online.ts'
import type { UploadQueue } from '../queue/queue.ts'
import { h, setLabel, setText } from './dom.ts'
import { sizeText } from './format.ts'
import { type Icon, icon } from './icons.ts'
import { messageOf, retryMessage } from './messages.ts'
import { fill, type Texts } from './texts.ts'

/** The row of a file. */
export interface Row {
  element: HTMLLIElement
  update(item: UploadItem, texts: Texts): void
  /** Releases the preview. */
  remove(): void
}

// A larger image takes the browser too long to decode.
const PREVIEW_MAX_BYTES = 30_000_000

/** Creates the row of a file. Its buttons stay the same elements, so that they do not lose the focus. */
export function createRow({ id, file, name, type, folder }: UploadItem, queue: UploadQueue): Row {
  const dot = name.lastIndexOf('.')
  const extension = dot > 0 && name.length - dot <= 6 ? name.slice(dot + 1) : ''
  const hasPreview =
    /^image\/(?:png|jpeg|gif|webp|avif|bmp)$/.test(type) && (file?.size ?? Infinity) <= PREVIEW_MAX_BYTES
  const preview = hasPreview && file ? URL.createObjectURL(file) : undefined
  const thumb = h(
    'span',
    { class: 'thumb', part: 'thumb', 'aria-hidden': 'true' },
    extension === '' ? icon('file') : extension,
  )
  if (preview) thumb.replaceChildren(h('img', { src: preview, alt: '', decoding: 'async' }))
  const mark = h('span', { class: 'mark' })
  thumb.append(mark)
  // The end of a long name stays visible: it distinguishes the files of a camera.
  const end = Math.max(0, name.length - 8)
  const title = h(
    'span',
    { class: 'name', part: 'name', title: folder === '' ? name : `${folder}/${name}` },
    h('span', {}, name.slice(0, end)),
    h('span', { class: 'end' }, name.slice(end)),
  )
  const status = h('span', { class: 'status', part: 'status' })
  const bar = h('div', { class: 'bar', part: 'bar' })
  const progress = h(
    'div',
    { class: 'progress', part: 'progress', role: 'progressbar', 'aria-valuemin': 0, 'aria-valuemax': 100 },
    bar,
  )
  const toggle = h('button', { type: 'button', class: 'icon', part: 'icon-button', click: () => act() })
  const remove = h(
    'button',
    {
      type: 'button',
      class: 'icon',
      part: 'icon-button',
      'aria-keyshortcuts': 'Delete',
      click: () => queue.remove(id),
    },
    icon('remove'),
  )
  const element = h(
    'li',
    { class: 'row', part: 'item' },
    thumb,
    h('div', {}, title, status, progress),
    h('div', { class: 'actions' }, toggle, remove),
  )
  let act = () => {}
  let shown: Icon | undefined

  return {
    element,
    update(item, texts) {
      const next = actionOf(item, queue)
      act = next?.act ?? (() => {})
      if (!next && toggle.matches(':focus')) remove.focus()
      toggle.hidden = !next
      if (next) {
        setLabel(toggle, fill(texts[next.name], { name }))
        toggle.setAttribute('aria-keyshortcuts', next.name === 'retry' ? 'R' : 'P')
        if (shown !== next.name) toggle.replaceChildren(icon(next.name))
      }
      shown = next?.name
      setLabel(remove, fill(texts.remove, { name }))
      if (element.dataset.status !== item.status) {
        element.dataset.status = item.status
        mark.replaceChildren(icon(item.status === 'done' ? 'done' : 'failed'))
      }
      setText(status, statusText(item, texts))
      const part = item.size === 0 ? 0 : item.sentBytes / item.size
      progress.hidden = !isActive(item) && item.status !== 'paused'
      bar.style.transform = `scaleX(${part})`
      progress.setAttribute('aria-valuenow', String(Math.floor(part * 100)))
      progress.setAttribute('aria-label', fill(texts.progress, { name }))
    },
    remove() {
      if (preview) URL.revokeObjectURL(preview)
      element.remove()
    },
  }
}

/** What the first button of a row does. */
function actionOf(
  item: UploadItem,
  queue: UploadQueue,
): { name: 'pause' | 'resume' | 'retry'; act: () => void } | undefined {
  const { id, status, retryAt } = item
  if (retryAt !== undefined || isRetryable(item)) return { name: 'retry', act: () => queue.retry(id) }
  if (status === 'paused') return { name: 'resume', act: () => queue.resume(id) }
  if (isActive(item)) return { name: 'pause', act: () => queue.pause(id) }
  return undefined
}

function statusText({ status, folder, size, sentBytes, error, retryAt }: UploadItem, texts: Texts): string {
  if (isCut({ status, error })) return texts.offline
  if (error && retryAt !== undefined) return retryMessage(error, { retryAt, texts })
  if (status === 'failed' && error) return messageOf(error, texts)
  const whole = folder === '' ? sizeText(size) : `${folder} · ${sizeText(size)}`
  if (status === 'uploading') return fill(texts.sending, { sent: sizeText(sentBytes), size: sizeText(size) })
  if (status === 'interrupted') return texts.interrupted
  return `${whole} · ${status === 'done' ? texts.done : status === 'paused' ? texts.paused : texts.waiting}`
}

/** Whether an upload waits for the network. It continues by itself. */
export function isCut({ status, error }: Pick<UploadItem, 'status' | 'error'>): boolean {
  return isOffline() && (isActive({ status }) || (status === 'failed' && error?.code === 'network'))
}
