interface Held {
  send: () => void;
  timer: NodeJS.Timeout;
}

// When nothing more happens on the channel: late, but not lost.
const maxHoldMs = 2_000;

/** Lets notifications of a channel overtake each other: what is held goes out after the next one. */
export class HeldNotifications {
  /** At most one of each channel. */
  private readonly held = new Map<string, Held>();

  pass(channel: string, order: 'in order' | 'after the next', send: () => void): void {
    const earlier = this.held.get(channel);
    if (order === 'after the next' && !earlier) {
      const timer = setTimeout(() => this.release(channel), maxHoldMs);
      timer.unref(); // a service that ends does not wait for it
      this.held.set(channel, { send, timer });
      return;
    }
    send();
    this.release(channel);
  }

  private release(channel: string): void {
    const held = this.held.get(channel);
    if (!held) return;
    clearTimeout(held.timer);
    this.held.delete(channel);
    held.send();
  }
}
