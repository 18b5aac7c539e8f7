# Zig takes ARM features by -mcpu: -march=armv8.2-a+dotprod+fp16 becomes -mcpu=generic+v8_2a+dotprod+fullfp16. A feature
# keeps its name, apart from the one below; one that Zig doesn't know it names itself. What takes a feature away (+nosve)
# is refused: Zig leaves the features that build upon it.
refuse() {
  echo "${0##*/}: no -mcpu of Zig's is known for $1" >&2
  exit 2
}

for argument do
  shift
  case $argument in
    -march=*+no*) refuse "$argument" ;;
    -march=armv[89]-a | -march=armv[89]-a+* | -march=armv[89].[0-9]-a | -march=armv[89].[0-9]-a+*)
      version=${argument#-march=armv}
      version=${version%%-a*}
      case $version in
        *.*) version=${version%.*}_${version#*.} ;;
      esac
      features=${argument#*-a}
      argument=-mcpu=generic+v${version}a
      IFS=+
      for feature in ${features#+}; do
        case $feature in
          fp16) feature=fullfp16 ;;
        esac
        argument=$argument+$feature
      done
      unset IFS
      ;;
    -march=*) refuse "$argument" ;;
  esac
  set -- "$@" "$argument"
done
