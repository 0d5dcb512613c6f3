import { h } from './dom.ts'
import { icon } from './icons.ts'
import type { Texts } from './texts.ts'

/** Whether the device has its own camera app, which an input can open. */
export function hasCameraApp(): boolean {
  return globalThis.matchMedia?.('(pointer: coarse)').matches && 'capture' in HTMLInputElement.prototype
}

/** Shows the picture of the camera in a dialog. Resolves with the photo, or with undefined when the user closes the dialog. */
export async function takePhoto(root: ShadowRoot, texts: Texts): Promise<File | undefined> {
  const video = h('video', { autoplay: true, playsinline: true, muted: true })
  const message = h('p', { role: 'alert' })
  const shoot = h(
    'button',
    { type: 'button', class: 'primary', disabled: true },
    icon('camera'),
    texts.cameraShoot,
  )
  const close = h('button', { type: 'button' }, texts.cameraClose)
  const dialog = h(
    'dialog',
    { part: 'camera', 'aria-label': texts.cameraTitle },
    video,
    message,
    h('div', { class: 'buttons' }, shoot, close),
  )
  root.append(dialog)
  dialog.showModal()
  let stream: MediaStream | undefined
  try {
    const photo = new Promise<File | undefined>((resolve) => {
      dialog.addEventListener('close', () => resolve(undefined))
      close.addEventListener('click', () => dialog.close())
      shoot.addEventListener('click', () => void photoOf(video).then(resolve))
    })
    try {
      stream = await navigator.mediaDevices.getUserMedia({ video: { width: { ideal: 1920 } } })
      video.srcObject = stream
      await video.play()
      shoot.disabled = false
      shoot.focus()
    } catch {
      video.remove()
      message.textContent = texts.cameraRefused
    }
    return await photo
  } finally {
    for (const track of stream?.getTracks() ?? []) track.stop()
    dialog.remove()
  }
}

function photoOf(video: HTMLVideoElement): Promise<File | undefined> {
  const canvas = h('canvas', { width: video.videoWidth, height: video.videoHeight })
  canvas.getContext('2d')?.drawImage(video, 0, 0)
  const name = `photo-${new Date().toISOString().slice(0, 19).replace(/\D/g, '-')}.jpg`
  return new Promise((resolve) => {
    canvas.toBlob(
      (blob) =>
        resolve(blob ? new File([blob], name, { type: 'image/jpeg', lastModified: Date.now() }) : undefined),
      'image/jpeg',
      0.92,
    )
  })
}
