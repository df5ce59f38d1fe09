/** Bytes: joined, written as numbers, read from text. All numbers have the highest byte first. */

const HEX = /^(?:[0-9a-f]{2})*$/;

/** Bytes that own their memory and share it with no other thread, as WebCrypto asks. */
export type Bytes = Uint8Array<ArrayBuffer>;

export function concat(...parts: readonly Uint8Array[]): Bytes {
  const joined = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    joined.set(part, offset);
    offset += part.length;
  }
  return joined;
}

export function utf8(text: string): Bytes {
  return new Uint8Array(new TextEncoder().encode(text));
}

/** A whole number below 2^32 in so many bytes. */
export function number(value: number, length: number): Bytes {
  const bytes = new Uint8Array(length);
  for (let place = length - 1, rest = value; place >= 0; place--) {
    bytes[place] = rest & 0xff;
    rest = Math.floor(rest / 256);
  }
  return bytes;
}

export function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export function isHex(value: unknown, bytes: number): value is string {
  return typeof value === "string" && value.length === 2 * bytes && HEX.test(value);
}

/** Lower-case hexadecimal digits, which `isHex` has checked. */
export function fromHex(text: string): Bytes {
  const bytes = new Uint8Array(text.length / 2);
  for (let place = 0; place < bytes.length; place++) {
    bytes[place] = parseInt(text.slice(2 * place, 2 * place + 2), 16);
  }
  return bytes;
}
