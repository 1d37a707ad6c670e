import type { Alert } from './alert-queue.js';

// Maximum duration of the exit animation. When this time is over, the alert disappears even if the animation takes longer or is paused.
const maxExitMs = 2_000;

export class AlertView {
  private skip: () => void = () => undefined;

  constructor(
    private readonly frame: HTMLElement,
    private readonly showMs: number,
  ) {}

  /** Shows an alert. Resolves when it has disappeared. */
  async show(alert: Alert): Promise<void> {
    const element = document.createElement('section');
    element.className = 'alert';
    element.dataset.type = alert.type;
    const sentence = element.appendChild(document.createElement('p'));
    for (const { kind, text } of alert.sentence) {
      // `bdi` keeps the direction of a user's text from changing the words around it.
      const part = sentence.appendChild(document.createElement(kind === 'words' ? 'span' : 'bdi'));
      part.className = kind;
      part.textContent = text;
    }
    this.frame.replaceChildren(element);
    await this.until(this.showMs);
    element.dataset.state = 'leaving';
    await Promise.race([
      Promise.allSettled(element.getAnimations({ subtree: true }).map(({ finished }) => finished)),
      this.until(maxExitMs),
    ]);
    element.remove();
  }

  /** Ends the current alert. */
  skipCurrent(): void {
    this.skip();
  }

  /** Waits for `ms` milliseconds. Returns early if the alert is skipped. */
  private until(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.skip = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
