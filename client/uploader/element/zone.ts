import type { FolderFile } from '../queue/item.ts'
import { hasCameraApp, takePhoto } from './camera.ts'
import { h, setText } from './dom.ts'
import { chosenFiles, droppedFiles } from './dropped.ts'
import { sizeText, typesText } from './format.ts'
import { icon } from './icons.ts'
import type { Settings } from './settings.ts'
import { fill, TEXTS } from './texts.ts'

/** The area for drops, with the buttons that choose files. */
export interface Zone {
  element: HTMLDivElement
  /** The first button. */
  choose: HTMLButtonElement
  update(settings: Settings): void
  /** Shows that files are over the element. */
  setOver(isOver: boolean): void
  /** Shows why nothing was added, until the next call. Undefined: shows the limits again. */
  setFailure(text: string | undefined): void
}

/** Creates the area for drops. */
export function createZone(root: ShadowRoot, add: (files: readonly FolderFile[]) => void): Zone {
  let settings: Settings | undefined
  let isOver = false
  let limits = ''
  const picker = (attributes: Record<string, unknown>) => {
    const input = h('input', {
      ...attributes,
      type: 'file',
      hidden: true,
      tabindex: -1,
      change: () => {
        add(chosenFiles(input.files ?? []))
        // The same file can be chosen again.
        input.value = ''
      },
    })
    return input
  }
  const files = picker({})
  const folder = picker({ webkitdirectory: true })
  const photo = picker({ accept: 'image/*', capture: 'environment' })

  const shoot = async () => {
    if (!settings) return
    if (hasCameraApp()) return photo.click()
    const file = await takePhoto(root, settings.texts)
    if (file) add([{ file, folder: '' }])
    cameraButton.focus()
  }
  const button = (name: 'upload' | 'folder' | 'camera', press: () => void) => {
    const label = h('span')
    const element = h(
      'button',
      {
        type: 'button',
        part: name === 'upload' ? 'button choose-button' : `button ${name}-button`,
        class: name === 'upload' ? 'primary' : 'more',
        click: (event: Event) => {
          event.stopPropagation()
          press()
        },
      },
      name === 'upload' ? undefined : icon(name),
      label,
    )
    return { element, label }
  }
  const { element: choose, label: chooseLabel } = button('upload', () => files.click())
  const { element: folderButton, label: folderLabel } = button('folder', () => folder.click())
  const { element: cameraButton, label: cameraLabel } = button('camera', () => void shoot())
  const title = h('p', { class: 'title', part: 'title' })
  const hint = h('p', { class: 'hint', part: 'hint', id: 'hint' })
  choose.setAttribute('aria-describedby', 'hint')
  const element = h(
    'div',
    {
      class: 'zone',
      part: 'dropzone',
      // A larger target for pointers. The button is the control.
      click: () => {
        if (!choose.disabled) files.click()
      },
    },
    h('span', { class: 'badge', part: 'badge' }, icon('upload')),
    title,
    hint,
    h('div', { class: 'buttons' }, choose, folderButton, cameraButton),
    files,
    folder,
    photo,
  )
  for (const input of [files, folder, photo])
    input.addEventListener('click', (event) => event.stopPropagation())
  const showTitle = () => {
    const texts = settings?.texts ?? TEXTS
    setText(title, isOver ? texts.dropNow : settings?.multiple ? texts.dropMany : texts.dropOne)
  }

  return {
    element,
    choose,
    update(next) {
      settings = next
      const { texts, accept, maxBytes, multiple, disabled } = next
      files.accept = accept
      files.multiple = multiple
      folderButton.hidden = !next.folder || !multiple
      cameraButton.hidden = !next.camera
      for (const one of [choose, folderButton, cameraButton]) one.disabled = disabled
      setText(chooseLabel, multiple ? texts.chooseMany : texts.chooseOne)
      setText(folderLabel, texts.chooseFolder)
      setText(cameraLabel, texts.camera)
      // With files in the list, these buttons only have icons.
      folderButton.title = texts.chooseFolder
      cameraButton.title = texts.camera
      const accepted = [
        accept === '' ? [] : fill(texts.limitTypes, { types: typesText(accept, texts) }),
        maxBytes === undefined ? [] : fill(texts.limitSize, { size: sizeText(maxBytes) }),
      ].flat()
      limits = accepted.join(' · ') || texts.pasteHint
      setText(hint, limits)
      showTitle()
    },
    setOver(next) {
      isOver = next
      showTitle()
    },
    setFailure: (text) => setText(hint, text ?? limits),
  }
}

/** Accepts drops on an element and pastes anywhere in its page. @returns a function that ends it */
export function acceptDrops(
  target: HTMLElement,
  {
    zone,
    box,
    isDisabled,
    add,
    onUnreadable,
  }: {
    zone: Zone
    box: HTMLElement
    isDisabled: () => boolean
    add: (files: readonly FolderFile[]) => void
    /** For example a folder for which the browser has no permission. */
    onUnreadable: () => void
  },
): () => void {
  const controller = new AbortController()
  const { signal } = controller
  const setOver = (isOver: boolean) => {
    box.classList.toggle('over', isOver)
    zone.setOver(isOver)
  }
  const read = (data: DataTransfer) =>
    droppedFiles(data).then((files) => {
      // A folder takes a while to read.
      if (!signal.aborted) add(files)
    }, onUnreadable)
  const hasFiles = (event: DragEvent) => !isDisabled() && event.dataTransfer?.types.includes('Files')
  target.addEventListener(
    'dragover',
    (event) => {
      if (!hasFiles(event)) return
      event.preventDefault()
      if (event.dataTransfer) event.dataTransfer.dropEffect = 'copy'
      setOver(true)
    },
    { signal },
  )
  target.addEventListener(
    'dragleave',
    ({ relatedTarget }) => {
      if (!(relatedTarget instanceof Node && target.contains(relatedTarget))) setOver(false)
    },
    { signal },
  )
  target.addEventListener(
    'drop',
    (event) => {
      setOver(false)
      if (!hasFiles(event) || !event.dataTransfer) return
      event.preventDefault()
      void read(event.dataTransfer)
    },
    { signal },
  )
  document.addEventListener(
    'paste',
    (event) => {
      const [inner] = event.composedPath()
      const isText = inner instanceof HTMLElement && inner.matches('input, textarea, [contenteditable]')
      if (isDisabled() || isText || event.defaultPrevented || !event.clipboardData?.files.length) return
      event.preventDefault()
      void read(event.clipboardData)
    },
    { signal },
  )
  return () => controller.abort()
}
