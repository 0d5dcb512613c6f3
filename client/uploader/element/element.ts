import type { FileRecord } from '../../generated/api.ts'
import type { UploadLink } from '../../upload/link.ts'
import { browserMemory } from '../queue/browser-memory.ts'
import type { QueueState, UploadItem } from '../queue/item.ts'
import { linkFromUrl } from '../queue/link-url.ts'
import type { QueuedLinkFile, QueueOptions } from '../queue/options.ts'
import { createUploadQueue, type UploadQueue } from '../queue/queue.ts'
import { bytesOf } from './format.ts'
import type { Settings } from './settings.ts'
import { TEXTS, type Texts } from './texts.ts'
import { createView, type View } from './view.ts'

/** Events of the element. All of them bubble. */
export interface SluiceUploaderEvents {
  /** A file is stored. */
  'sluice-uploaded': CustomEvent<{ item: UploadItem; record: FileRecord }>
  /** A file is refused, or its upload has failed. */
  'sluice-error': CustomEvent<{ item: UploadItem }>
  /** Anything has changed, including the progress of a file. */
  'sluice-change': CustomEvent<QueueState>
}

// Servers have no such class: importing this file must not fail there.
const Base = globalThis.HTMLElement ?? (class {} as typeof HTMLElement)
const ATTRIBUTES = [
  ...['link', 'link-url', 'accept', 'max-size', 'multiple', 'folder', 'camera', 'disabled', 'required'],
  ...['resume-scope', 'concurrency', 'direct', 'texts'],
]
const PROPERTIES = ['link', 'texts', 'resumableFromBytes', 'chunkBytes'] as const

/** The element `<sluice-uploader>`: docs/how-to/uploader.md. */
export class SluiceUploaderElement extends Base {
  static readonly formAssociated = true
  static readonly observedAttributes = ATTRIBUTES
  readonly #internals = this.attachInternals()
  readonly #queue: UploadQueue
  readonly #view: View
  #link: QueueOptions['link'] | undefined
  #texts: Partial<Texts> | undefined
  #transfer: Pick<QueueOptions, 'resumableFromBytes' | 'chunkBytes'> = {}
  #isFormDisabled = false
  #isShowing = false
  #shown: QueueState | undefined
  #isRestored = false
  #records: readonly FileRecord[] = []
  #stopListening = () => {}
  #ticker: ReturnType<typeof setInterval> | undefined

  constructor() {
    super()
    const root = this.attachShadow({ mode: 'open', delegatesFocus: true })
    this.#queue = createUploadQueue({
      link: (file) => this.#linkFor(file),
      onUploaded: (item) => {
        if (item.record) this.#dispatch('sluice-uploaded', { item, record: item.record })
      },
      onError: (item) => this.#dispatch('sluice-error', { item }),
    })
    this.#view = createView(root, this.#queue)
    this.#queue.subscribe(() => this.#showSoon())
    this.#configure()
    this.#shown = this.#queue.getState()
    this.#view.show(this.#shown)
  }

  /** All files, and the methods that pause, resume, retry and remove them. */
  get queue(): UploadQueue {
    return this.#queue
  }

  /** Records of the stored files, in the order of the list. As a form value: this list as JSON. */
  get value(): readonly FileRecord[] {
    return this.#records
  }

  /** A signed upload link, or a function that requests one for each file. */
  get link(): QueueOptions['link'] | undefined {
    return this.#link ?? this.getAttribute('link') ?? undefined
  }

  set link(link: QueueOptions['link'] | undefined) {
    this.#link = link
  }

  /** Replaces texts, by name. */
  get texts(): Partial<Texts> {
    return this.#texts ?? parsed(this.getAttribute('texts'))
  }

  set texts(texts: Partial<Texts> | undefined) {
    this.#texts = texts
    this.#configure()
  }

  /** Files of this size and above, in bytes, are sent as resumable uploads. Default: 8 MiB. */
  set resumableFromBytes(resumableFromBytes: number) {
    this.#transfer = { ...this.#transfer, resumableFromBytes }
    this.#configure()
  }

  /** The size of one request of a resumable upload, in bytes. Default: 8 MiB. */
  set chunkBytes(chunkBytes: number) {
    this.#transfer = { ...this.#transfer, chunkBytes }
    this.#configure()
  }

  /** The name of its value in a form. */
  get name(): string {
    return this.getAttribute('name') ?? ''
  }

  set name(name: string) {
    this.setAttribute('name', name)
  }

  get form(): HTMLFormElement | null {
    return this.#internals.form
  }

  /** Opens the dialog that chooses files. Only in the handler of a user's action. */
  open(): void {
    this.#view.choose.click()
  }

  connectedCallback(): void {
    // Properties that were set before the element was defined.
    for (const name of PROPERTIES) {
      if (!Object.hasOwn(this, name)) continue
      const value = (this as Record<string, unknown>)[name]
      delete (this as Record<string, unknown>)[name]
      Object.assign(this, { [name]: value })
    }
    this.#stopListening = this.#view.listen()
    this.#configure()
    if (this.#isRestored) return
    this.#isRestored = true
    void this.#queue.restore()
  }

  disconnectedCallback(): void {
    this.#stopListening()
    // An element that is moved is connected again at once.
    queueMicrotask(() => {
      if (this.isConnected) return
      clearInterval(this.#ticker)
      this.#queue.close()
    })
  }

  attributeChangedCallback(): void {
    this.#configure()
  }

  formDisabledCallback(isDisabled: boolean): void {
    this.#isFormDisabled = isDisabled
    this.#configure()
  }

  formResetCallback(): void {
    this.#queue.clear()
  }

  async #linkFor(file: QueuedLinkFile): Promise<UploadLink> {
    const { link } = this
    if (link !== undefined) return typeof link === 'function' ? link(file) : link
    const url = this.getAttribute('link-url')
    if (url === null) throw new TypeError('The uploader needs the attribute link-url or link.')
    return linkFromUrl(url, file)
  }

  #configure(): void {
    const accept = this.getAttribute('accept') ?? ''
    const maxBytes = bytesOf(this.getAttribute('max-size'))
    const multiple = this.hasAttribute('multiple')
    const resumeScope = this.getAttribute('resume-scope') ?? ''
    const concurrency = Number(this.getAttribute('concurrency')) || undefined
    const memory = browserMemory(resumeScope)
    const direct = this.getAttribute('direct') === 'off' ? false : undefined
    const rules = { accept, maxBytes, multiple }
    this.#queue.configure({ ...rules, resumeScope, concurrency, direct, memory, ...this.#transfer })
    this.#view.update(this.#settings(rules))
    this.#showSoon()
  }

  #settings(rules: Pick<Settings, 'accept' | 'maxBytes' | 'multiple'>): Settings {
    return {
      ...rules,
      texts: { ...TEXTS, ...this.texts },
      folder: this.hasAttribute('folder'),
      camera: this.hasAttribute('camera'),
      disabled: this.#isFormDisabled || this.hasAttribute('disabled'),
    }
  }

  /** One update for all changes of a task. */
  #showSoon(): void {
    if (this.#isShowing) return
    this.#isShowing = true
    queueMicrotask(() => {
      this.#isShowing = false
      this.#show()
      const state = this.#queue.getState()
      if (state !== this.#shown) this.#dispatch('sluice-change', state)
      this.#shown = state
    })
  }

  #show(): void {
    const state = this.#queue.getState()
    this.#view.show(state)
    this.#setForm(state)
    clearInterval(this.#ticker)
    // Countdowns and the remaining time.
    if (state.isUploading) this.#ticker = setInterval(() => this.#view.show(this.#queue.getState()), 1000)
  }

  #setForm({ items, isUploading }: QueueState): void {
    const records = items.flatMap(({ record }) => record ?? [])
    if (records.length !== this.#records.length || records.some((record, i) => record !== this.#records[i])) {
      this.#records = records
      this.#internals.setFormValue(records.length === 0 ? null : JSON.stringify(records))
    }
    const texts = { ...TEXTS, ...this.texts }
    const isMissing = this.hasAttribute('required') && records.length === 0
    if (isUploading) this.#internals.setValidity({ customError: true }, texts.unfinished, this.#view.choose)
    else if (isMissing) this.#internals.setValidity({ valueMissing: true }, texts.required, this.#view.choose)
    else this.#internals.setValidity({})
  }

  #dispatch<Name extends keyof SluiceUploaderEvents>(
    name: Name,
    detail: SluiceUploaderEvents[Name]['detail'],
  ): void {
    this.dispatchEvent(new CustomEvent(name, { detail, bubbles: true, composed: true }))
  }
}

function parsed(json: string | null): Partial<Texts> {
  try {
    return JSON.parse(json ?? '{}')
  } catch {
    return {}
  }
}
