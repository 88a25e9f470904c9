/** A bell of a carillon. */
export function Logo() {
  return (
    <svg className="logo" width="22" height="22" viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="8" />
      <path d="M16 6.5v2M9 22.500h14M10.800 22.500c1-1.400 1.400-3.200 1.400-6.300 0-2.900 1.500-5.600 3.800-5.600s3.800 2.700 3.800 5.600c0 3.100.4 4.900 1.400 6.300M14.300 25.200a1.900 1.900 0 0 0 3.400 0" />
    </svg>
  );
}
