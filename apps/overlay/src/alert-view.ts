import type { Alert } from './alert-queue.js';

// Longer than the animations of most styles. The next alert does not wait for an animation that takes longer or is stopped.
const maxExitMs = 2_000;

/** Shows alerts in the page. */
export class AlertView {
  private skip: () => void = () => undefined;

  constructor(
    private readonly frame: HTMLElement,
    private readonly showMs: number,
  ) {}

  /** Shows an alert. Resolves when the alert has disappeared. */
  async show(alert: Alert): Promise<void> {
    const element = document.createElement('section');
    element.className = 'alert';
    element.dataset.type = alert.type;
    const sentence = element.appendChild(document.createElement('p'));
    for (const { kind, text } of alert.sentence) {
      // `bdi`, because the direction of a user's text must not change the words around it.
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

  /** Ends the alert that is on air. */
  skipCurrent(): void {
    this.skip();
  }

  /** Waits for `ms` milliseconds, or until the alert is skipped. */
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
