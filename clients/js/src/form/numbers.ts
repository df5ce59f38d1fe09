/** Numbers as a language writes them, and as people type them. */

export interface Signs {
  readonly decimal: string;
  readonly thousands: string;
  readonly format: Intl.NumberFormat;
}

/** The signs of a language, by CLDR; digits are those of this page's own numbers. */
export function signsOf(language: string): Signs {
  const format = new Intl.NumberFormat(language, { numberingSystem: "latn" });
  const sign = (type: string): string => format.formatToParts(12345.5).find((part) => part.type === type)?.value ?? "";
  return { thousands: sign("group"), decimal: sign("decimal"), format };
}

/** A number as a person would type it: without signs for thousands. */
export const plain = (value: number, signs: Signs): string => String(value).replace(".", signs.decimal);

/** 1,234. */
export const whole = (value: number, signs: Signs): string => signs.format.format(value);

/** What a person typed, as a number; null if it is none, or could be two different ones. */
export function typed(text: string, signs: Signs): number | null {
  const latin = text.replace(/[٠-٩۰-۹]/g, (digit) => String(digit.charCodeAt(0) & 15)).replace("٫", ".");
  const plain = latin.replace(/[\s'’٬]/g, "").replace("−", "-");
  const ambiguous = new RegExp(`^-?\\d{1,3}\\${signs.thousands}\\d{3}$`);
  if (!/^-?(\d+([.,]\d*)?|[.,]\d+)$/.test(plain) || ambiguous.test(plain)) return null;
  return Number(plain.replace(",", "."));
}
