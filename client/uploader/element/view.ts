import { isRetryable } from '../queue/failure.ts'
import type { FolderFile, QueueState, UploadItem } from '../queue/item.ts'
import type { UploadQueue } from '../queue/queue.ts'
import { createRate } from '../queue/rate.ts'
import { h, setText } from './dom.ts'
import { timeText } from './format.ts'
import { messageOf } from './messages.ts'
import { createRow, isCut, type Row } from './row.ts'
import type { Settings } from './settings.ts'
import { STYLE } from './style.ts'
import { fill, type Texts } from './texts.ts'
import { acceptDrops, createZone } from './zone.ts'

/** The contents of the shadow root. */
export interface View {
  /** The control that is focused when the form is invalid. */
  choose: HTMLButtonElement
  update(settings: Settings): void
  /** Shows the state of the queue, and announces what has changed. */
  show(state: QueueState): void
  /** Begins to accept drops and pastes. @returns a function that ends it */
  listen(): () => void
}

let sheet: CSSStyleSheet | undefined

/** One for all elements. A content security policy can forbid `<style>`, but not this. */
function styleSheet(): CSSStyleSheet {
  if (sheet) return sheet
  sheet = new CSSStyleSheet()
  sheet.replaceSync(STYLE)
  return sheet
}

/** Fills a shadow root. */
export function createView(root: ShadowRoot, queue: UploadQueue): View {
  let settings: Settings
  let before: readonly UploadItem[] = []
  // Whether the loss of the network was announced.
  let wasCut = false
  const rows = new Map<string, Row>()
  const rate = createRate()
  const add = (files: readonly FolderFile[]) => {
    zone.setFailure(undefined)
    if (files.length > 0) queue.add(files)
  }

  const zone = createZone(root, add)
  const list = h('ul', {
    class: 'list',
    part: 'list',
    hidden: true,
    keydown: (event: KeyboardEvent) => onKey(event),
  })
  const summary = h('span', { class: 'summary', part: 'summary' })
  const action = (press: () => void) =>
    h('button', { type: 'button', class: 'link', part: 'footer-button', click: press })
  const toggleAll = action(() => (queue.getState().isUploading ? queue.pause() : queue.resume()))
  const retryAll = action(() => queue.retry())
  const clear = action(() => {
    queue.clear()
    zone.choose.focus()
  })
  const foot = h(
    'div',
    { class: 'foot', part: 'footer', hidden: true },
    summary,
    h('div', {}, toggleAll, retryAll, clear),
  )
  const live = h('p', { class: 'hidden', role: 'status' })
  const box = h('div', { class: 'box', part: 'root', role: 'group' }, zone.element, list, foot, live)
  root.adoptedStyleSheets = [styleSheet()]
  root.append(box)

  function onKey(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const row = (event.target as Element).closest('li')
    const id = [...rows].find(([, { element }]) => element === row)?.[0]
    const item = queue.getState().items.find((one) => one.id === id)
    if (!row || !item) return
    const key = event.key.toLowerCase()
    if (key === 'delete' || key === 'backspace') queue.remove(item.id)
    else if (key === 'p' && item.status === 'paused') queue.resume(item.id)
    else if (key === 'p') queue.pause(item.id)
    else if (key === 'r') queue.retry(item.id)
    else if (key === 'arrowdown') focusIn(row.nextElementSibling)
    else if (key === 'arrowup') focusIn(row.previousElementSibling)
    else return
    event.preventDefault()
  }

  function focusIn(row: Element | null): void {
    row?.querySelector<HTMLButtonElement>('button:last-of-type')?.focus()
  }

  function showRows(items: readonly UploadItem[]): void {
    const ids = new Set(items.map(({ id }) => id))
    for (const [id, row] of rows) {
      if (ids.has(id)) continue
      // The focus must not fall back to the start of the page.
      if (row.element.contains(root.activeElement)) {
        const next = row.element.nextElementSibling ?? row.element.previousElementSibling
        if (next) focusIn(next)
        else zone.choose.focus()
      }
      row.remove()
      rows.delete(id)
    }
    for (const item of items) {
      let row = rows.get(item.id)
      if (!row) {
        row = createRow(item, queue)
        rows.set(item.id, row)
        list.append(row.element)
      }
      row.update(item, settings.texts)
    }
  }

  function showFoot({ items, isUploading, sentBytes, totalBytes }: QueueState): void {
    const { texts } = settings
    const done = items.filter(({ status }) => status === 'done').length
    const left = isUploading ? rate.secondsLeft({ sentBytes, totalBytes }) : undefined
    const parts = [fill(texts.summary, { done, total: items.length })]
    if (left !== undefined) parts.push(fill(texts.timeLeft, { time: timeText(left, texts) }))
    setText(summary, parts.join(' · '))
    foot.hidden = items.length < 2
    toggleAll.hidden = !isUploading && !items.some(({ status }) => status === 'paused')
    setText(toggleAll, isUploading ? texts.pauseAll : texts.resumeAll)
    retryAll.hidden = !items.some(isRetryable)
    setText(retryAll, texts.retryAll)
    setText(clear, texts.clear)
  }

  function announce(items: readonly UploadItem[]): void {
    const news = changesOf({ before, items, texts: settings.texts })
    before = items
    const isNowCut = items.some(isCut)
    if (isNowCut && !wasCut) news.push(settings.texts.offline)
    wasCut = isNowCut
    if (news.length > 0) setText(live, news.join(' '))
  }

  return {
    choose: zone.choose,
    update(next) {
      settings = next
      zone.update(next)
      box.setAttribute('aria-label', next.texts.label)
      list.setAttribute('aria-label', next.texts.list)
    },
    show(state) {
      const { items } = state
      box.classList.toggle('has-files', items.length > 0)
      list.hidden = items.length === 0
      showRows(items)
      showFoot(state)
      announce(items)
    },
    listen: () =>
      acceptDrops(root.host as HTMLElement, {
        zone,
        box,
        isDisabled: () => settings.disabled,
        add,
        onUnreadable() {
          zone.setFailure(settings.texts.dropUnreadable)
          setText(live, settings.texts.dropUnreadable)
        },
      }),
  }
}

/** What a screen reader announces. Progress is not announced: it would interrupt the user. */
function changesOf({
  before,
  items,
  texts,
}: {
  before: readonly UploadItem[]
  items: readonly UploadItem[]
  texts: Texts
}): string[] {
  const old = new Map(before.map((item) => [item.id, item]))
  const news: string[] = []
  const added = items.filter(({ id }) => !old.has(id)).length
  if (added > 0) news.push(fill(texts.announceAdded, { count: added }))
  const done = items.filter(({ status }) => status === 'done').length
  for (const { id, name, status, error } of items) {
    if (old.get(id)?.status === status) continue
    if (status === 'done') news.push(fill(texts.announceDone, { name, done, total: items.length }))
    if (status === 'paused') news.push(fill(texts.announcePaused, { name }))
    if (status === 'failed' && error)
      news.push(fill(texts.announceFailed, { name, reason: messageOf(error, texts) }))
  }
  const ids = new Set(items.map(({ id }) => id))
  for (const { id, name } of before) if (!ids.has(id)) news.push(fill(texts.announceRemoved, { name }))
  // Hundreds of files at once would be read for minutes.
  return news.slice(0, 5)
}
