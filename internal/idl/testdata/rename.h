/* Names of the application's side where both sides are linked into one program. */
#define all_open    host_open
#define all_close   host_close
#define all_nothing host_nothing
#define all_numbers host_numbers
#define all_structs host_structs
#define all_bytes   host_bytes
#define all_texts   host_texts
#define all_points  host_points
