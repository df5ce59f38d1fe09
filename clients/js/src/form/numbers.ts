/** Numbers for people. A proven bound is rounded up: no text promises more than the proof. */

export interface Signs {
  thousands: string;
  decimal: string;
  /** Digits up to which a whole number has no sign for thousands. */
  ungrouped: number;
}

/** The signs of a language, by CLDR; digits are those of this page's own numbers. */
export function signsOf(language: string): Signs {
  const format = new Intl.NumberFormat(language, { numberingSystem: "latn" });
  const sign = (value: number, type: string): string =>
    format.formatToParts(value).find((part) => part.type === type)?.value ?? "";
  return { thousands: sign(12345, "group"), decimal: sign(0.5, "decimal"), ungrouped: sign(1234, "group") ? 3 : 4 };
}

const RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹";
const LARGEST = 700;

const raised = (power: number): string =>
  `10${String(power).replace("-", "⁻").replace(/\d/g, (digit) => RAISED[Number(digit)]!)}`;

/** A number as JavaScript writes it, with the signs of the language. */
function signed(text: string, signs: Signs): string {
  const [whole, decimals] = text.split(".");
  const digits = whole!.replace("-", "").length;
  const grouped = digits > signs.ungrouped ? whole!.replace(/\B(?=(\d{3})+$)/g, signs.thousands) : whole!;
  return decimals ? grouped + signs.decimal + decimals : grouped;
}

/** 12,726, 0.3509, 2.09×10⁻⁵. */
export function shown(value: number, signs: Signs, digits = 4): string {
  if (value === 0 || !Number.isFinite(value)) return String(value);
  const size = Number(value.toExponential().split("e")[1]);
  if (size >= 9 || size < -4) {
    const [mantissa, power] = value.toExponential(digits - 1).split("e");
    const short = String(Number(mantissa));
    const ten = raised(Number(power));
    return short === "1" ? ten : `${signed(short, signs)}×${ten}`;
  }
  const text = value.toFixed(Math.max(0, digits - 1 - size));
  return signed(text.includes(".") ? text.replace(/\.?0+$/, "") : text, signs);
}

/** A number as a person would type it: without signs for thousands. */
export const plain = (value: number, signs: Signs): string => String(value).replace(".", signs.decimal);

/** 1,234. */
export const whole = (value: number, signs: Signs): string => signed(String(value), signs);

/** So many times a bound as it is written, without the last bits of numbers: 3 times 0.0001 is 0.0003. */
export function times(count: number, bound: number): number {
  if (!Number.isFinite(bound)) return bound;
  const [mantissa, power] = bound.toExponential().split("e");
  const [first, decimals = ""] = mantissa!.split(".");
  return Number(`${BigInt(first + decimals) * BigInt(count)}e${Number(power) - decimals.length}`);
}

/** A bound, rounded up to so many digits. */
export function atMost(value: number, signs: Signs, digits = 4): string {
  if (value === 0 || !Number.isFinite(value)) return String(value);
  const [mantissa, power] = value.toExponential().split("e");
  const all = mantissa!.replace(".", "");
  const kept = Number(all.slice(0, digits).padEnd(digits, "0"));
  const up = /[1-9]/.test(all.slice(digits)) ? kept + 1 : kept;
  return shown(Number(`${up}e${Number(power) - digits + 1}`), signs, digits);
}

/** e^ε, rounded up. */
export function factor(epsilon: number, signs: Signs): string {
  if (epsilon > LARGEST) return raised(Math.ceil(epsilon / Math.log(10)));
  return atMost(Math.exp(epsilon), signs, 3);
}

/** What a person typed, as a number; null if it is none, or could be two different ones. */
export function typed(text: string, signs: Signs): number | null {
  const latin = text.replace(/[٠-٩۰-۹]/g, (digit) => String(digit.charCodeAt(0) & 15)).replace("٫", ".");
  const plain = latin.replace(/[\s'’٬]/g, "").replace("−", "-");
  const ambiguous = new RegExp(`^-?\\d{1,3}\\${signs.thousands}\\d{3}$`);
  if (!/^-?(\d+([.,]\d*)?|[.,]\d+)$/.test(plain) || ambiguous.test(plain)) return null;
  return Number(plain.replace(",", "."));
}
